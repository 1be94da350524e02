/** Configuration: the environment, read once, with every problem named at once. */
export { readEnvironment } from './environment.js';
export {
  type Config,
  describeProblems,
  type Environment,
  type Problem,
  parseConfig,
} from './parse.js';
export { Secret } from './secret.js';
