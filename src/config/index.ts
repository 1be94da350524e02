/** Configuration: the environment, read once, with every problem named at once. */
export type { DevinSettings, VercelSettings } from './accounts.js';
export { readEnvironment } from './environment.js';
export {
  type Config,
  type ConfigResult,
  describeProblems,
  type Environment,
  type Mode,
  type Problem,
  parseConfig,
} from './parse.js';
export { Secret } from './secret.js';
