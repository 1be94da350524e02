/**
 * A machine's config as JSON, which Stately Studio imports.
 *
 * Effects, guards, actions and delays stand by name. What only code can say
 * (inputs, parameters read from an answer, the first context) is left out.
 */
import type { AnyStateMachine } from 'xstate';

export const configOf = ({ config }: AnyStateMachine): string => `${JSON.stringify(config, null, 2)}\n`;
