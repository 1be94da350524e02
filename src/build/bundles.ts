/**
 * Compiles the session's workflow for a server of one's own: two modules that
 * this process then imports. The deployment's functions are made by functions.ts.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BaseBuilder, createBaseBuilderConfig } from '@workflow/builders';
import { LEFT_OUT, ourEntries } from './entries.js';

export interface Bundles {
  /** Paths of modules that export `POST`. */
  readonly flow: string;
  readonly step: string;
}

/** Writes into `outDir`, which has to lie below `workingDir`: packages are resolved from there. */
export async function buildBundles(workingDir: string, outDir: string): Promise<Bundles> {
  const config = createBaseBuilderConfig({ workingDir, dirs: ['src'], externalPackages: [...LEFT_OUT] });
  return new BundleBuilder({ ...config, ...QUIET, buildTarget: 'next' }).bundle(outDir);
}

const QUIET = {
  suppressCreateWorkflowsBundleLogs: true,
  suppressCreateWorkflowsBundleWarnings: true,
  suppressCreateManifestLogs: true,
};

class BundleBuilder extends BaseBuilder {
  override async build(): Promise<void> {}

  async bundle(outDir: string): Promise<Bundles> {
    await mkdir(outDir, { recursive: true });
    const bundles = { flow: join(outDir, 'flow.mjs'), step: join(outDir, 'step.mjs') };
    const common = {
      format: 'esm' as const,
      inputFiles: [],
      discoveredEntries: ourEntries(this.config.workingDir),
    };
    const flow = await this.createWorkflowsBundle({
      ...common,
      outfile: bundles.flow,
      bundleFinalOutput: false,
    });
    const step = await this.createStepsBundle({
      ...common,
      outfile: bundles.step,
      externalizeNonSteps: true,
      rewriteTsExtensions: true,
      bundleTransitiveLocalStepDependencies: true,
    });
    await Promise.all([step.context?.dispose(), flow.interimBundleCtx?.dispose()]);
    return bundles;
  }
}
