import { expect, it } from 'vitest';
import { ownWorld } from '../../src/cli/world.js';

it('an embedded world beside settings of real accounts -> says what it does not use, and keeps a database of its own', async () => {
  const world = await ownWorld({ VERCEL_TOKEN: 'vcp_x', DEVIN_API_URL: ':', DATABASE_URL: ' ' }, 60);
  try {
    expect(world.warnings.map(({ variable }) => variable)).toEqual(['DEVIN_API_URL, VERCEL_TOKEN']);
    expect(world.config.accounts.vercel.token?.reveal()).not.toBe('vcp_x');
    expect(world.config.databaseUrl.reveal()).toMatch(/^file:.*outposts-world-/);
  } finally {
    await world.close();
  }
});
