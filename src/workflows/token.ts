/** The token of a session's hook: the address of its run, and the lock against a second one. */
export const hookToken = (sessionId: string): string => `session:${sessionId}`;

/** What is sent to a session's run: that the row should be read, or that another deployment wants to drive it. */
export interface Ring {
  readonly type: 'look' | 'leave';
  /** In milliseconds of the wall's epoch, by the sender. */
  readonly sentAt: number;
}
