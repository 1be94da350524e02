/** News that reaches a connection's actor from outside; results of effects are not listed here. */
import { z } from 'zod';

const attemptId = z.string().min(1).max(100);

export const connectionEventSchema = z.discriminatedUnion('type', [
  /** Somebody wants to connect. Takes the place of an attempt that still waits. */
  z.strictObject({
    type: z.literal('authorization.requested'),
    attemptId,
    authorizeBy: z.number(),
    retryBy: z.number(),
  }),
  /** Devin sent the browser back with a code; the vault has it. */
  z.strictObject({ type: z.literal('code.returned'), attemptId }),
  /** Devin sent the browser back without one. */
  z.strictObject({
    type: z.literal('authorization.denied'),
    attemptId,
    problem: z.string().max(300),
  }),
  /** The person wants another try of what failed. */
  z.strictObject({ type: z.literal('retry.requested'), attemptId }),
  /** An operator wants the connection forgotten. */
  z.strictObject({ type: z.literal('disconnect.requested') }),
]);
export type ConnectionEvent = z.infer<typeof connectionEventSchema>;
export type AuthorizationRequested = Extract<ConnectionEvent, { type: 'authorization.requested' }>;
export type AuthorizationDenied = Extract<ConnectionEvent, { type: 'authorization.denied' }>;
