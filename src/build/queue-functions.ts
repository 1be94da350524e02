/**
 * The two functions that Vercel's queues call: one runs our workflow, the other
 * its steps. There is none for webhooks, which nothing here uses, so there is
 * no address under which a run could be resumed from outside.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  BaseBuilder,
  createBaseBuilderConfig,
  STEP_QUEUE_TRIGGER,
  WORKFLOW_QUEUE_TRIGGER,
} from '@workflow/builders';
import { LEFT_OUT, ourEntries } from './entries.js';

const RUNTIME = 'nodejs24.x';

/** Builds from the project in `root` into `output`, a Build Output API folder. */
export async function buildQueueFunctions(root: string, output: string): Promise<void> {
  const config = createBaseBuilderConfig({
    workingDir: root,
    dirs: ['src'],
    runtime: RUNTIME,
    externalPackages: [...LEFT_OUT],
  });
  const builder = new QueueFunctions({ ...config, buildTarget: 'vercel-build-output-api' });
  await builder.buildInto(join(output, 'functions/.well-known/workflow/v1'));
}

class QueueFunctions extends BaseBuilder {
  override async build(): Promise<void> {}

  async buildInto(routes: string): Promise<void> {
    const { workingDir } = this.config;
    const common = {
      inputFiles: [],
      discoveredEntries: ourEntries(workingDir),
      tsconfigPath: join(workingDir, 'tsconfig.json'),
    };
    const [step, flow] = [join(routes, 'step.func'), join(routes, 'flow.func')];
    const flowFile = join(flow, 'index.js');

    await this.#describe(step, STEP_QUEUE_TRIGGER);
    const steps = await this.createStepsBundle({ ...common, outfile: join(step, 'index.js') });
    await this.#describe(flow, WORKFLOW_QUEUE_TRIGGER);
    const flows = await this.createWorkflowsBundle({ ...common, outfile: flowFile });
    await Promise.all([steps.context?.dispose(), flows.interimBundleCtx?.dispose()]);
    await dropSourceMap(join(step, 'index.js'));
    for (const dir of [step, flow]) await rm(join(dir, 'index.js.debug.json'), { force: true });

    const manifest = await this.createManifest({
      workflowBundlePath: flowFile,
      manifestDir: routes,
      manifest: {
        steps: { ...steps.manifest.steps, ...flows.manifest.steps },
        workflows: { ...steps.manifest.workflows, ...flows.manifest.workflows },
        classes: { ...steps.manifest.classes, ...flows.manifest.classes },
      },
    });
    if (manifest === undefined) throw new Error('the manifest of workflows could not be made');
  }

  async #describe(dir: string, trigger: typeof STEP_QUEUE_TRIGGER): Promise<void> {
    await mkdir(dir, { recursive: true });
    await this.createPackageJson(dir, 'commonjs');
    await this.createVcConfig(dir, {
      runtime: RUNTIME,
      // As long as the plan allows: a wake-up ends by itself within a minute.
      maxDuration: 'max',
      experimentalTriggers: [trigger],
    });
  }
}

/** Two thirds of the file, which every cold start would read; the code itself is not minified. */
async function dropSourceMap(file: string): Promise<void> {
  const code = await readFile(file, 'utf8');
  const end = code.lastIndexOf('\n//# sourceMappingURL=data:');
  if (end !== -1) await writeFile(file, code.slice(0, end + 1));
}
