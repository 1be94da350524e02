/**
 * The workflow engine for a built output: the one for development, with its
 * files in a directory of this machine and its queue in this process.
 *
 * Has to be set up before any function is loaded: they find it by a global
 * symbol, and each would make its own otherwise.
 */
import type { OutputFunction } from './output-functions.js';

export interface OutputEngine {
  /** Connects the queues with the functions that they trigger, and takes up runs that were left. */
  start(functions: readonly OutputFunction[]): Promise<void>;
}

type Handler = (request: Request) => Promise<Response>;
type Listing = (query: { pagination?: object }) => unknown;

/** What the engine for development has beyond the interface of all engines. */
interface LocalWorld {
  registerHandler(prefix: string, handler: Handler): void;
  events: { list: Listing };
  start(): Promise<void>;
}

/** A run that sleeps holds a place in the queue. */
const PLACES = '100000';
/** Its page of 20 events would make it read its whole directory once for every 20. */
const PAGE = 50_000;

/** `directory`: where runs are kept. */
export async function openEngine(directory: string): Promise<OutputEngine> {
  process.env.WORKFLOW_TARGET_WORLD = 'local';
  process.env.WORKFLOW_LOCAL_DATA_DIR = directory;
  process.env.WORKFLOW_LOCAL_QUEUE_CONCURRENCY = PLACES;
  // Reads those when it is loaded.
  const { createWorld, setWorld } = await import('workflow/runtime');
  const world = createWorld();
  setWorld(world);
  const local = world as unknown as LocalWorld;
  const list = local.events.list.bind(local.events);
  local.events = {
    ...local.events,
    list: (query) => list({ ...query, pagination: { limit: PAGE, ...query.pagination } }),
  };
  return {
    async start(functions) {
      for (const { topics, call } of functions)
        for (const topic of topics) local.registerHandler(topic.replace(/\*$/, ''), call);
      await local.start();
    },
  };
}
