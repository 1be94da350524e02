/** Which request is which operation. */
import type { Handler } from './api.js';
import type { Operation } from './calls.js';
import * as named from './handlers-sandbox.js';
import * as work from './handlers-vm.js';

interface Route {
  readonly method: string;
  readonly path: RegExp;
  readonly operation: Operation;
  readonly handler: Handler;
}

const SANDBOXES = '/v2/sandboxes';
const VM = `${SANDBOXES}/sessions/(?<vm>[^/]+)`;
const COMMAND = `${VM}/cmd/(?<command>[^/]+)`;
const SNAPSHOT = `${SANDBOXES}/snapshots/(?<snapshot>[^/]+)`;
const NAME = `${SANDBOXES}/(?<name>[^/]+)`;

/** The first match wins: `sessions` and `snapshots` are no sandbox names. */
const ROUTES: readonly Route[] = [
  route('POST', '/v3/sandboxes', 'create', named.createV3),
  route('POST', SANDBOXES, 'create', named.createV2),
  route('GET', SANDBOXES, 'list', named.list),
  route('GET', `${SANDBOXES}/sessions`, 'listSessions', named.listSessions),
  route('GET', VM, 'getSession', named.getSession),
  route('POST', `${VM}/cmd`, 'runCommand', work.runCommand),
  route('GET', COMMAND, 'getCommand', work.getCommand),
  route('GET', `${COMMAND}/logs`, 'logs', work.logs),
  route('POST', `${COMMAND}/kill`, 'kill', work.kill),
  route('POST', `${VM}/stop`, 'stop', work.stop),
  route('POST', `${VM}/extend-timeout`, 'extend', work.extend),
  route('POST', `${VM}/network-policy`, 'policy', work.policy),
  route('POST', `${VM}/snapshot`, 'snapshot', work.snapshot),
  route('POST', `${VM}/fs/mkdir`, 'mkdir', work.mkdir),
  route('POST', `${VM}/fs/read`, 'read', work.read),
  route('POST', `${VM}/fs/write`, 'write', work.write),
  route('GET', `${SANDBOXES}/snapshots`, 'listSnapshots', named.listSnapshots),
  route('GET', SNAPSHOT, 'getSnapshot', named.getSnapshot),
  route('DELETE', SNAPSHOT, 'deleteSnapshot', named.removeSnapshot),
  route('GET', NAME, 'get', named.get),
  route('PATCH', NAME, 'update', named.update),
  route('DELETE', NAME, 'delete', named.remove),
];

export interface FoundRoute {
  /** `unknown` when the API has no such endpoint. */
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
  readonly handler: Handler | null;
}

/** A waiting `getCommand` is an operation of its own. */
export function findRoute(method: string, path: string, query: URLSearchParams): FoundRoute {
  for (const { operation, handler, ...each } of ROUTES) {
    const match = each.method === method ? each.path.exec(path) : null;
    if (!match) continue;
    const waits = operation === 'getCommand' && query.get('wait') === 'true';
    return { operation: waits ? 'commandWait' : operation, params: decode(match.groups ?? {}), handler };
  }
  return { operation: 'unknown', params: {}, handler: null };
}

function route(method: string, path: string, operation: Operation, handler: Handler): Route {
  return { method, path: new RegExp(`^${path}$`), operation, handler };
}

function decode(groups: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(groups).map(([key, value]) => [key, decodePart(value)]));
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
