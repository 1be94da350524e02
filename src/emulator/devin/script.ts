/**
 * What a scripted session does, step by step.
 *
 * A step is taken only while a remote is connected; a session that sleeps goes
 * on where it stopped. A step that ends the remote counts as done when it is
 * begun, so that it is not repeated by the next remote; a command whose remote
 * vanished is run again.
 */
import { z } from 'zod';

export const stepSchema = z.union([
  /** Runs a shell command in the remote's working directory. */
  z.strictObject({ run: z.string() }),
  /** Lets clock time pass. */
  z.strictObject({ waitMs: z.number().nonnegative() }),
  /**
   * Lets the remote go to sleep. It flushes for `flushMs` (default 0) before it exits; while it does, the first
   * `flickerReads` looks say `suspended` too early.
   */
  z.strictObject({
    suspend: z.literal(true),
    flickerReads: z.int().nonnegative().optional(),
    flushMs: z.number().nonnegative().optional(),
  }),
  /** The remote ends by itself with this code, without being told. */
  z.strictObject({ crash: z.int().min(1).max(255) }),
  /** The remote stays alive and does nothing that it is told. */
  z.strictObject({ hang: z.literal(true) }),
  /** Tells the remote that the session is over. */
  z.strictObject({ end: z.literal(true) }),
]);
export type Step = z.infer<typeof stepSchema>;

/** What the interpreter of a script may do to its session. */
export interface Hands {
  /** The number of steps taken. */
  position(): number;
  advance(): void;
  /** Resolves when a remote is connected and the session wants to run. */
  attached(): Promise<void>;
  sleep(ms: number): Promise<void>;
  run(command: string): Promise<void>;
  suspend(flush: { flickerReads: number; flushMs: number }): void;
  /** Both resolve when the remote that was told is gone. */
  crash(code: number): Promise<void>;
  hang(): Promise<void>;
  end(): void;
}

/** Takes the steps from `place.position` on; rejects only when its hands do. */
export async function playScript(script: readonly Step[], hands: Hands): Promise<void> {
  for (;;) {
    const step = script[hands.position()];
    if (!step) return;
    await hands.attached();
    if ('run' in step) {
      await hands.run(step.run);
      hands.advance();
    } else if ('waitMs' in step) {
      await hands.sleep(step.waitMs);
      hands.advance();
    } else {
      hands.advance();
      if ('suspend' in step) {
        hands.suspend({ flickerReads: step.flickerReads ?? 0, flushMs: step.flushMs ?? 0 });
      } else if ('crash' in step) await hands.crash(step.crash);
      else if ('hang' in step) await hands.hang();
      else hands.end();
    }
  }
}
