/** Bodies and queries that the API takes. Whatever these reject is answered with 400. */
import { z } from 'zod';
import { badRequest } from './api-error.js';
import { policyRequest } from './policy.js';

const DAY_MS = 86_400_000;

const sandboxName = z
  .string()
  .max(128)
  .regex(/^[a-zA-Z0-9_-]+$/);
const noNul = z.string().refine((text) => !text.includes('\0'), 'contains NUL');
const environment = z.record(z.string().regex(/^[^=\0]+$/), noNul);
const tags = z
  .record(z.string().min(1), z.string().max(256))
  .refine((record) => Object.keys(record).length <= 5, 'at most 5 tags');
const vcpus = z
  .number()
  .int()
  .positive()
  .refine((count) => count === 1 || count % 2 === 0, 'must be 1 or even');
const resources = z.looseObject({ vcpus: vcpus.optional() });
const timeout = z.number().int().min(1000);
const expiration = z
  .number()
  .int()
  .refine((ms) => ms === 0 || ms >= DAY_MS, 'must be 0 or at least one day');
const keepLast = z.object({
  count: z.number().int().min(1).max(10),
  expiration: expiration.optional(),
  deleteEvicted: z.boolean().optional(),
});
const ports = z.array(z.number().int().min(1024).max(65_535)).max(15);

export const createBody = z.looseObject({
  projectId: z.string(),
  name: sandboxName.optional(),
  ports: ports.optional(),
  source: z.looseObject({ type: z.string(), snapshotId: z.string().optional() }).optional(),
  timeout: timeout.optional(),
  resources: resources.optional(),
  runtime: z.string().optional(),
  image: z.string().optional(),
  persistent: z.boolean().optional(),
  networkPolicy: policyRequest.optional(),
  env: environment.optional(),
  tags: tags.optional(),
  snapshotExpiration: expiration.optional(),
  keepLastSnapshots: keepLast.optional(),
});
export type CreateBody = z.output<typeof createBody>;

export const updateBody = z.looseObject({
  ports: ports.optional(),
  timeout: timeout.optional(),
  resources: resources.optional(),
  persistent: z.boolean().optional(),
  networkPolicy: policyRequest.optional(),
  tags: tags.optional(),
  snapshotExpiration: expiration.optional(),
  keepLastSnapshots: keepLast.nullable().optional(),
  currentSnapshotId: z.string().optional(),
});
export type UpdateBody = z.output<typeof updateBody>;

export const commandBody = z.looseObject({
  command: noNul.min(1),
  args: z.array(noNul).default([]),
  cwd: noNul.optional(),
  env: environment.default({}),
  sudo: z.boolean().default(false),
  wait: z.boolean().default(false),
  logs: z.boolean().default(false),
  timeout: z.number().int().positive().optional(),
});
export type CommandBody = z.output<typeof commandBody>;

export const killBody = z.object({ signal: z.number().int().min(1).max(64) });
export const extendBody = z.object({ duration: timeout });
export const snapshotBody = z.object({ expiration: expiration.optional() });
export const pathBody = z.looseObject({ path: noNul.min(1), cwd: noNul.optional() });

const page = {
  limit: z.coerce.number().int().min(1).max(100).default(20),
  sortOrder: z.enum(['asc', 'desc']).default('desc'),
  cursor: z.string().optional(),
};
export const pageQuery = z.looseObject({ ...page, name: z.string().optional() });
export const listQuery = z.looseObject({
  ...page,
  sortBy: z.enum(['createdAt', 'name', 'statusUpdatedAt']).default('createdAt'),
  namePrefix: z.string().optional(),
});

/** Parses input from outside. @throws ApiError 400 that names the failing path, never the value. */
export function parseInput<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw badRequest(`Invalid request: \`${issue?.path.join('.') || 'body'}\` ${issue?.message ?? ''}`.trim());
}
