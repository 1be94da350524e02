/** Where the two clouds are and with what they are used, as the settings of a program that serves them. */
import type { DevinCloud } from '../devin/index.js';
import type { VercelCloud } from '../vercel/index.js';

export const cloudEnvironment = (devin: DevinCloud, vercel: VercelCloud) => ({
  DEVIN_API_URL: devin.url,
  DEVIN_OUTPOSTS_TOKEN: devin.token,
  DEVIN_OUTPOST_ID: devin.outpostId,
  DEVIN_WORKER_STATIC_BASE_URL: devin.staticUrl,
  DEVIN_CONNECT_URL: devin.connectUrl,
  DEVIN_API_HOSTS: new URL(devin.url).host,
  VERCEL_TOKEN: vercel.token,
  VERCEL_TEAM_ID: vercel.teamId,
  VERCEL_PROJECT_ID: vercel.projectId,
});
