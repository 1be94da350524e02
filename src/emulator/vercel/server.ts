/**
 * The API over HTTP: finds the operation, plays its fault, checks the token,
 * handles, answers. Listens on loopback only.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { ApiAnswer, ApiRequest } from './api.js';
import { ApiError, notFound } from './api-error.js';
import type { Calls } from './calls.js';
import type { Control } from './control.js';
import type { FaultKind, Faults } from './faults.js';
import { parseJson, readBody, sendAnswer, sendError, sendJson } from './http.js';
import { type CloudState, vmOf } from './model.js';
import { type FoundRoute, findRoute } from './routes.js';

export interface ApiParts {
  readonly state: CloudState;
  readonly token: string;
  readonly teamId: string;
  readonly faults: Faults;
  readonly calls: Calls;
  readonly control: Control;
}

/** Resolves when it listens on 127.0.0.1:`port` (0: any free port). */
export async function listen(parts: ApiParts, port: number): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    handle(parts, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendError(response, error);
    });
  });
  // A waiting command may keep its request open for hours.
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { server, port: address.port };
}

async function handle(parts: ApiParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { state } = parts;
  response.setHeader('date', new Date(state.clock.now() + state.skewMs).toUTCString());
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  const body = await readBody(request);
  if (state.closing.aborted) {
    response.destroy();
    return;
  }
  if (url.pathname.startsWith('/_vercel/')) return parts.control(request, url.pathname, body, response);

  const route = findRoute(
    request.method ?? 'GET',
    url.pathname.replace(/^\/api(?=\/)/, ''),
    url.searchParams,
  );
  const { operation, params } = route;
  const call: ApiRequest = {
    params,
    query: url.searchParams,
    headers: request.headers,
    body,
    json: () => parseJson(body),
  };
  const sandbox = sandboxNameOf(state, route, call);
  parts.calls.add(operation, sandbox);
  const fault = parts.faults.take(operation, sandbox);
  if (fault !== null && (await playBefore(state, fault, response))) return;

  const answer = await answerOf(parts, route, call);
  if (fault === 'loseAnswer') response.destroy();
  else if (fault === 'garbage') response.end('<html>Bad gateway');
  else if (answer instanceof ApiError) sendError(response, answer);
  else await sendAnswer(response, answer, fault === 'cut');
}

/** Plays what a fault does before handling; true when the call ends with that. */
async function playBefore(state: CloudState, fault: FaultKind, response: ServerResponse): Promise<boolean> {
  if (fault === 'drop') response.destroy();
  if (fault === 'drop' || fault === 'hang') return true;
  if (typeof fault === 'string') return false;
  if ('delayMs' in fault) {
    await state.clock.sleep(fault.delayMs, state.closing);
    return false;
  }
  const { status, code = 'injected', message = 'An injected fault.', retryAfter } = fault;
  sendJson(
    response,
    status,
    { error: { code, message } },
    retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
  );
  return true;
}

async function answerOf(parts: ApiParts, route: FoundRoute, call: ApiRequest): Promise<ApiAnswer | ApiError> {
  try {
    authorize(parts, call);
    if (!route.handler) throw notFound('Endpoint');
    return await route.handler(parts.state, call);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** @throws ApiError 401 without a token, 403 with another token, team or project. */
function authorize({ state, token, teamId }: ApiParts, { headers, query }: ApiRequest): void {
  if (!headers.authorization) throw new ApiError(401, 'unauthorized', 'No token was sent.');
  const project = query.get('projectId') ?? query.get('project');
  const ok =
    headers.authorization === `Bearer ${token}` &&
    query.get('teamId') === teamId &&
    (project === null || project === state.projectId);
  if (!ok) throw new ApiError(403, 'forbidden', 'Not authorized.');
}

/** Whose call it is: by the path's name or vm, or by the name that a create asks for. */
function sandboxNameOf(
  state: CloudState,
  { operation, params }: FoundRoute,
  call: ApiRequest,
): string | null {
  try {
    if (params.name !== undefined) return params.name;
    if (params.vm !== undefined) return vmOf(state, params.vm).sandbox.name;
    if (operation !== 'create') return null;
    const { name } = call.json() as { name?: unknown };
    return typeof name === 'string' ? name : null;
  } catch {
    return null;
  }
}
