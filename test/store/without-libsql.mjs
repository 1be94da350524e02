/** Preloaded into a process: SQLite's package is not there, as in a bundle for functions. */
import { register } from 'node:module';

const hooks = `
  export async function resolve(specifier, context, next) {
    if (!/^@libsql\\/|^libsql$/.test(specifier)) return next(specifier, context);
    throw Object.assign(new Error('Cannot find package ' + specifier), { code: 'ERR_MODULE_NOT_FOUND' });
  }`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
