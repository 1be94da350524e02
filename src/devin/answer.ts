/**
 * The JSON of the fleet API's answers, into shapes.
 *
 * A rejection names the failing path, never what stood there.
 */
import { z } from 'zod';
import { ContractError } from '../errors.js';
import { failingPath } from './entry.js';

/** `consequence` is appended to the message: what may be true although the answer is unreadable. */
export function readAnswer<T>(schema: z.ZodType<T>, text: string, label: string, consequence = ''): T {
  const parsed = schema.safeParse(parseJson(text, label, consequence));
  if (parsed.success) return parsed.data;
  throw new ContractError(`${label}: unreadable answer at ${failingPath(parsed.error)}${consequence}`);
}

export function parseJson(text: string, label: string, consequence = ''): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The cause is left out on purpose: a syntax error quotes the body.
    throw new ContractError(`${label}: the answer is not JSON${consequence}`);
  }
}

/** A page of the queue. Rows are read one by one, so that one bad row does not spoil its page. */
export const pageSchema = z.object({
  items: z.array(z.unknown()),
  cursor: z.string().nullish(),
  has_next_page: z.boolean().nullish(),
});

const sendable = z.string().regex(/^[\x21-\x7e]+$/);

/** The secrets of a claim. */
export const grantSchema = z.object({
  status: z.object({
    connect_token: sendable,
    gateway_url: sendable.refine((url) => URL.canParse(url) && new URL(url).hostname !== ''),
  }),
});

/** One event of the watch. `cursor` may be unreadable without spoiling the event. */
export const eventSchema = z.object({
  type: z.string(),
  object: z.unknown().optional(),
  cursor: z.string().nullish().catch(null),
});
