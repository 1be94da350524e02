/** Listens on loopback. Nothing here is ever reachable from another machine by itself. */
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { messageOf, RefusedError } from '../errors.js';

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Ends open connections too. Safe to repeat. */
  close(): Promise<void>;
}

/** `port` 0: any free one. Rejects with RefusedError when the port cannot be had. */
export async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  wanted: number,
): Promise<Listening> {
  const server = createAdaptorServer({ fetch });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      const cause = taken ? `port ${wanted} is in use; choose another, or 0 for any` : messageOf(error);
      reject(
        new RefusedError(`listen on this machine: ${cause}`, { setting: 'PORT or --port', cause: error }),
      );
    });
    server.listen(wanted, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}
