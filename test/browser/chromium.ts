/**
 * A real browser. Debian's Chromium, or the one that CHROMIUM names; without
 * one the tests of this folder are skipped, but never in CI.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { onEnd, temporaryDirectory } from '../e2e/support.js';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const hasBrowser = existsSync(executablePath) || process.env.CI === 'true';

const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Nothing beyond this machine, whatever a page leads to.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

/** A browser without a past. What a page logs as an error, or throws, is kept in `complaints`. */
export async function openBrowser(options: { phone?: boolean; script?: boolean } = {}) {
  const context: BrowserContext = await chromium.launchPersistentContext(await temporaryDirectory(), {
    executablePath,
    args: ARGS,
    javaScriptEnabled: options.script ?? true,
    viewport: options.phone ? { width: 390, height: 800 } : { width: 1100, height: 800 },
  });
  onEnd(() => context.close());
  const complaints: string[] = [];
  const page: Page = context.pages()[0] ?? (await context.newPage());
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.location().url}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { context, page, complaints };
}

/** Keeps a picture of the page in the directory that SCREENSHOTS names, if it names one. */
export async function picture(page: Page, name: string): Promise<void> {
  const directory = process.env.SCREENSHOTS;
  if (!directory) return;
  mkdirSync(directory, { recursive: true });
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
}
