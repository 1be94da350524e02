/** The function that answers everything but the cron: health and doorbell, and nothing else to the world. */
import { deployment } from '../src/deployment.js';
import { createControlApp } from '../src/http/app.js';
import { workflowRuns } from '../src/workflows/runs.js';

export default createControlApp({ deployment: deployment(), runs: workflowRuns() });

/** Vercel's compiler takes an import of `x.js` for `x.ts` only: these have to be named to be compiled at all. */
export const pages = [
  new URL('../src/dashboard/index.tsx', import.meta.url),
  new URL('../src/dashboard/page.tsx', import.meta.url),
  new URL('../src/dashboard/sessions.tsx', import.meta.url),
];
