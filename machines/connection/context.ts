/**
 * What a connection's actor remembers.
 *
 * The schema is the contract of a saved connection. Holds no secret: verifier,
 * code and tokens are in the vault, under the attempt's name.
 */
import { z } from 'zod';

const instant = z.number().nullable();

const outpostSchema = z.strictObject({
  outpostId: z.string().min(1),
  apiHost: z.string().min(1),
  outpostName: z.string().max(200).nullable(),
});
export type Outpost = z.infer<typeof outpostSchema>;

const projectSchema = z.strictObject({
  projectId: z.string().min(1),
  teamId: z.string().nullable(),
  /** Vercel's name of the installation. */
  configurationId: z.string().min(1),
  name: z.string().max(200).nullable(),
  /** Variables that were written so far. */
  written: z.array(z.string()),
});
export type Project = z.infer<typeof projectSchema>;

export const connectionContextSchema = z.strictObject({
  /** The project of somebody that is being set up; null: this deployment itself. */
  project: projectSchema.nullable(),
  /** The attempt that counts; any other is superseded. */
  attemptId: z.string().min(1).nullable(),
  /** Until when the person may authorize the attempt. */
  authorizeBy: instant,
  /** What the attempt was granted. */
  granted: outpostSchema.nullable(),
  /** Until when the attempt's secrets are there for another try. */
  retryBy: instant,
  /** What is connected, whatever becomes of a later attempt. */
  current: outpostSchema.extend({ since: z.number() }).nullable(),
  /** How the latest attempt went wrong, and what to do. */
  problem: z.string().max(300).nullable(),
  /** When the record of a project's attempt is over. */
  endsAt: instant,
});
export type ConnectionContext = z.infer<typeof connectionContextSchema>;

export interface ConnectionInput {
  readonly project: Project | null;
  /** When a record that nobody begins is over; null: never. */
  readonly endsAt: number | null;
}

/** XState makes a first context without input on each pure transition. */
export const freshContext = (input?: ConnectionInput): ConnectionContext => ({
  project: input?.project ?? null,
  attemptId: null,
  authorizeBy: null,
  granted: null,
  retryBy: null,
  current: null,
  problem: null,
  endsAt: input?.endsAt ?? null,
});
