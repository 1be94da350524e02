/**
 * What it means that the program dies while an effect of a connection is pending.
 *
 * Whatever the instant, the saved state still names the effect, and the next
 * driver performs it again; each sentence says why that does no harm.
 */
import type { connectionEffects } from './effects.js';

export const connectionCrashes: Readonly<Record<keyof typeof connectionEffects, string>> = {
  exchangeInstallation:
    'It takes what the vault has of an earlier exchange. Had Vercel answered and the vault not been written yet, the code is used up: the attempt is refused, and the person starts again.',
  exchangeCode:
    'It takes what the vault has of an earlier exchange. Had Devin answered and the vault not been written yet, the code is used up: the attempt is refused, and the person starts again.',
  adoptConnection: 'It tries the token again and puts the same credentials in use.',
  configureProject: 'It writes again, from the values that the vault keeps: the same ones.',
  forgetAttempt: 'It deletes again: what is not there counts as deleted.',
  forgetConnection: 'It deletes again: what is not there counts as deleted.',
};
