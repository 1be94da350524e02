import { localAdmission } from '../../src/dashboard/guard.js';
import { createDashboard, type DashboardDeps } from '../../src/dashboard/index.js';
import type { FleetView, SessionView } from '../../src/dashboard/view.js';

export const HOST = '127.0.0.1:3000';
export const TOKEN = 'token-of-this-process';

export function sessionView(changes: Partial<SessionView> = {}): SessionView {
  return {
    id: 'devin-1',
    state: 'serving.monitoring',
    stateSince: 0,
    episode: 1,
    sandboxName: 'devin-devin-1-0123456789',
    vmId: 'sbx_1',
    vmExpiresAt: 1_200_000,
    claimDeadlineAt: null,
    waitsFor: null,
    outcome: null,
    problem: null,
    quarantine: null,
    holdsSlot: true,
    ...changes,
  };
}

export function fleetView(changes: Partial<FleetView> = {}): FleetView {
  return {
    at: 65_000,
    speed: 1,
    slots: { used: 1, max: 5 },
    states: { 'serving.monitoring': 1 },
    sessions: [sessionView()],
    problems: [],
    queueDepth: 0,
    ...changes,
  };
}

export function dashboard(changes: Partial<DashboardDeps> = {}) {
  const app = createDashboard({
    view: async () => fleetView(),
    async *changes() {},
    health: async () => ({ kind: 'ready', details: {} }),
    actions: {},
    admission: localAdmission(TOKEN, [HOST, 'localhost:3000']),
    title: 'Outposts',
    world: 'embedded',
    log: () => {},
    ...changes,
  });
  return {
    get: (path: string, headers: Record<string, string> = {}) =>
      app.request(path, { headers: { host: HOST, ...headers } }),
    post: (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
      app.request(path, {
        method: 'POST',
        body: new URLSearchParams(form),
        headers: { host: HOST, ...headers },
      }),
    app,
  };
}
