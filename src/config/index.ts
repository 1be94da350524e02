/** Configuration: the environment, read once, with every problem named at once. */
export { CALLBACK_PATH, INTEGRATION_PATH } from './connect.js';
export { readEnvironment } from './environment.js';
export { deploymentNotices } from './notices.js';
export { type Config, type ConfigResult, describeProblems, type Problem, parseConfig } from './parse.js';
export { Secret } from './secret.js';
export type { Environment } from './values.js';
export type { Mode } from './variables.js';
