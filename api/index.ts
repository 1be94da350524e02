/** The function that answers everything but the cron: health, the doorbell, callbacks, and pages. */
import { deployment } from '../src/deployment.js';
import { createControlApp } from '../src/http/app.js';
import { workflowRuns } from '../src/workflows/runs.js';

export default createControlApp({ deployment: deployment(), runs: workflowRuns() });

/** Vercel's compiler takes an import of `x.js` for `x.ts` only: these have to be named to be compiled at all. */
export const pages = [
  new URL('../src/dashboard/attempt.tsx', import.meta.url),
  new URL('../src/dashboard/connect.tsx', import.meta.url),
  new URL('../src/dashboard/index.tsx', import.meta.url),
  new URL('../src/dashboard/layout.tsx', import.meta.url),
  new URL('../src/dashboard/page.tsx', import.meta.url),
  new URL('../src/dashboard/sessions.tsx', import.meta.url),
  new URL('../src/dashboard/sign-in.tsx', import.meta.url),
  new URL('../src/http/connect.tsx', import.meta.url),
  new URL('../src/http/sign-in.tsx', import.meta.url),
];
