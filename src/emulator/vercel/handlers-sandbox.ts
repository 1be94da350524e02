/** Handlers of what is addressed by name: sandboxes, their vms and images. */
import { routesAnswer, sandboxAnswer, snapshotAnswer, vmAnswer } from './answers.js';
import type { ApiRequest, Handler } from './api.js';
import { badRequest } from './api-error.js';
import { checkLimits, createSandbox, openSandbox } from './boot.js';
import { type CloudState, currentVm, type Sandbox, sandboxOf, vmOf } from './model.js';
import { paginate } from './pages.js';
import { policyAnswer } from './policy.js';
import { createBody, listQuery, pageQuery, parseInput, updateBody } from './requests.js';
import { deleteSnapshot, snapshotOf, snapshotsOf } from './snapshots.js';
import { deleteSandbox } from './stop.js';

const createWith =
  (defaults: { runtime: string | null; image: string | null }): Handler =>
  async (state, request) => {
    const body = parseInput(createBody, request.json());
    return { json: await sandboxAndVm(state, await createSandbox(state, body, defaults)) };
  };

export const createV2 = createWith({ runtime: 'node24', image: null });
export const createV3 = createWith({ runtime: null, image: 'vercel/sandbox/universal:latest' });

export const get: Handler = async (state, { params, query }) => {
  const { sandbox, resumed } = await openSandbox(state, params.name ?? '', query.get('resume') === 'true');
  return { json: { ...sandboxAndVm(state, sandbox), ...(resumed && { resumed }) } };
};

export const list: Handler = async (state, request) => {
  const query = parseInput(listQuery, Object.fromEntries(request.query));
  const wanted = tagFilter(request);
  const sandboxes = [...state.sandboxes.values()].filter(
    (each) =>
      each.name.startsWith(query.namePrefix ?? '') && (!wanted || each.tags[wanted.key] === wanted.value),
  );
  const page = paginate(sandboxes, query, (each) => ({ key: each[query.sortBy], id: each.name }));
  return {
    json: { sandboxes: page.items.map((each) => sandboxAnswer(state, each)), pagination: page.pagination },
  };
};

export const update: Handler = async (state, request) => {
  const sandbox = sandboxOf(state, request.params.name ?? '');
  const body = parseInput(updateBody, request.json());
  checkLimits(state, body);
  if (body.currentSnapshotId !== undefined) snapshotOf(state, body.currentSnapshotId);
  sandbox.persistent = body.persistent ?? sandbox.persistent;
  sandbox.timeoutMs = body.timeout ?? sandbox.timeoutMs;
  sandbox.vcpus = body.resources?.vcpus ?? sandbox.vcpus;
  sandbox.tags = body.tags ?? sandbox.tags;
  sandbox.ports = body.ports ?? sandbox.ports;
  sandbox.snapshotExpirationMs = body.snapshotExpiration ?? sandbox.snapshotExpirationMs;
  sandbox.currentSnapshotId = body.currentSnapshotId ?? sandbox.currentSnapshotId;
  if (body.keepLastSnapshots !== undefined) sandbox.keepLast = body.keepLastSnapshots;
  if (body.networkPolicy) sandbox.policy = policyAnswer(body.networkPolicy);
  sandbox.updatedAt = state.clock.now();
  return { json: { sandbox: sandboxAnswer(state, sandbox), routes: routesAnswer(sandbox) } };
};

export const remove: Handler = async (state, { params, query }) => {
  const sandbox = sandboxOf(state, params.name ?? '');
  await deleteSandbox(state, sandbox, query.get('deleteOrphanSnapshots') === 'true');
  return { json: { sandbox: sandboxAnswer(state, sandbox) } };
};

export const getSession: Handler = async (state, { params }) => {
  const { sandbox, vm } = vmOf(state, params.vm ?? '');
  return { json: { session: vmAnswer(state, sandbox, vm), routes: routesAnswer(sandbox) } };
};

export const listSessions: Handler = async (state, request) => {
  const query = parseInput(pageQuery, Object.fromEntries(request.query));
  const vms = [...state.sandboxes.values()]
    .filter((each) => query.name === undefined || each.name === query.name)
    .flatMap((sandbox) => sandbox.vms.map((vm) => ({ sandbox, vm })));
  const page = paginate(vms, query, ({ vm }) => ({ key: vm.requestedAt, id: vm.id }));
  return {
    json: {
      sessions: page.items.map(({ sandbox, vm }) => vmAnswer(state, sandbox, vm)),
      pagination: page.pagination,
    },
  };
};

export const listSnapshots: Handler = async (state, request) => {
  const query = parseInput(pageQuery, Object.fromEntries(request.query));
  const page = paginate(snapshotsOf(state, query.name), query, ({ createdAt, id }) => ({
    key: createdAt,
    id,
  }));
  return {
    json: { snapshots: page.items.map((each) => snapshotAnswer(state, each)), pagination: page.pagination },
  };
};

export const getSnapshot: Handler = async (state, { params }) => ({
  json: { snapshot: snapshotAnswer(state, snapshotOf(state, params.snapshot ?? '')) },
});

export const removeSnapshot: Handler = async (state, { params }) => {
  const snapshot = snapshotOf(state, params.snapshot ?? '');
  await deleteSnapshot(state, snapshot);
  return { json: { snapshot: snapshotAnswer(state, snapshot) } };
};

function sandboxAndVm(state: CloudState, sandbox: Sandbox) {
  return {
    sandbox: sandboxAnswer(state, sandbox),
    session: vmAnswer(state, sandbox, currentVm(sandbox)),
    routes: routesAnswer(sandbox),
  };
}

/** The API filters by one tag at most, written `key:value`. */
function tagFilter({ query }: ApiRequest): { key: string; value: string } | null {
  const [filter, ...more] = query.getAll('tags');
  if (filter === undefined) return null;
  const colon = filter.indexOf(':');
  if (more.length > 0 || colon < 1) throw badRequest('`tags` takes one `key:value`.');
  return { key: filter.slice(0, colon), value: filter.slice(colon + 1) };
}
