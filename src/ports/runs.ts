/**
 * The durable runs of a workflow engine, as the orchestrator needs them.
 *
 * A run is a disposable driver of one session's actor: it holds nothing but
 * the session's id, and losing it costs time, never a session.
 */
export interface Runs {
  /**
   * Wakes the session's run, or starts one when it has none. Safe to repeat: of several runs of one session,
   * all but one end by themselves. Rejects with TransientError when the engine cannot be reached.
   */
  ring(sessionId: string): Promise<'rung' | 'started'>;
  /** Whether the engine can be reached. Never rejects. */
  answers(): Promise<boolean>;
  /** Asks the session's run, if it has one, to end; nothing is begun in its place. */
  dismiss(sessionId: string): Promise<void>;
  /** Cancels the run that holds the session, whatever it does, and starts another. */
  replace(sessionId: string): Promise<void>;
}
