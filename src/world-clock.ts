/**
 * The clock of an emulated world, for a program that runs against one.
 *
 * `OUTPOSTS_WORLD_CLOCK` is set by whoever starts such a world, never by an
 * operator: it counts only while Devin's API is on this machine, and never on
 * Vercel, so no real session can be driven by a clock that is not the wall's.
 */
import { z } from 'zod';

export const WORLD_CLOCK = 'OUTPOSTS_WORLD_CLOCK';

const clockSchema = z.strictObject({
  speed: z.number().positive(),
  origin: z.strictObject({ wall: z.number(), clock: z.number() }),
});
export type WorldClock = z.infer<typeof clockSchema>;

const WALL: WorldClock = { speed: 1, origin: { wall: 0, clock: 0 } };

export function worldClockOf(env: Readonly<Record<string, string | undefined>>): WorldClock {
  const text = env[WORLD_CLOCK];
  if (!text || env.VERCEL || !isLoopback(env.DEVIN_API_URL)) return WALL;
  return clockSchema.parse(JSON.parse(text));
}

function isLoopback(url: string | undefined): boolean {
  const host = URL.canParse(url ?? '') ? new URL(url ?? '').hostname : '';
  return ['127.0.0.1', 'localhost', '[::1]'].includes(host);
}
