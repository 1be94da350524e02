/** News that reaches a session's actor from outside; results of effects are not listed here. */
import { z } from 'zod';
import { factsSchema } from './context.js';

export const sessionEventSchema = z.discriminatedUnion('type', [
  /** The dispatcher reserved one of MAX_CONCURRENT slots. */
  z.strictObject({ type: z.literal('slot.granted') }),
  /** The queue's row reads differently from before, or is missing. Made from the row's facts, never posted. */
  z.strictObject({ type: z.literal('queue.changed'), facts: factsSchema }),
  /** Something ended in the vm: look now. Carries no facts. */
  z.strictObject({ type: z.literal('doorbell.rung') }),
  /** The sweep saw a vm of this session. */
  z.strictObject({
    type: z.literal('sandbox.seen'),
    vmId: z.string().min(1),
    alive: z.boolean(),
    startedAt: z.number(),
    expiresAt: z.number().nullable(),
    policyDigest: z.string().nullable(),
  }),
  /** An operator wants the session off its vm, with its files kept, until a retry. */
  z.strictObject({ type: z.literal('stop.requested') }),
  /** An operator wants another try now. */
  z.strictObject({ type: z.literal('retry.requested') }),
  /** The orchestrator is being shut down with `--drain=snapshot`. */
  z.strictObject({ type: z.literal('drain.requested') }),
]);
export type SessionEvent = z.infer<typeof sessionEventSchema>;
export type QueueChanged = Extract<SessionEvent, { type: 'queue.changed' }>;
export type SandboxSeen = Extract<SessionEvent, { type: 'sandbox.seen' }>;
