/** What one process tells another about the world that it runs; contains the world's tokens. */
import { z } from 'zod';

const clockSchema = z.object({
  speed: z.number().positive(),
  origin: z.object({ wall: z.number(), clock: z.number() }),
});
/** `createClock` takes it; equal specs tell equal time in every process of a machine. */
export type ClockSpec = z.infer<typeof clockSchema>;

export const worldInfoSchema = z.object({
  devinUrl: z.url(),
  /** Stands for `https://vercel.com/api`. */
  vercelUrl: z.url(),
  clock: clockSchema,
  /** What an orchestrator needs in its environment. */
  env: z.record(z.string(), z.string()),
});
export type WorldInfo = Readonly<z.infer<typeof worldInfoSchema>>;
