/** The cron's function: apart from the others only because it may take a whole pass's time. */
import { deployment } from '../src/deployment.js';
import { createCronApp } from '../src/http/cron.js';
import { workflowRuns } from '../src/workflows/runs.js';

export default createCronApp({ deployment: deployment(), runs: workflowRuns() });
