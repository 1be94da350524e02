/** What holds of every connection, besides what holds of every actor (`../session/invariants.ts`). */

export const connectionInvariants = [
  {
    id: 'currentStands',
    sentence:
      'What is connected stays so, whatever becomes of a later attempt, until another is adopted or somebody disconnects.',
  },
  {
    id: 'attemptThatCounts',
    sentence: 'Only the latest attempt is heard: what comes of an earlier one is ignored.',
  },
  {
    id: 'vaultFirst',
    sentence: 'What a code was exchanged for is in the vault before anything else happens with it.',
  },
  {
    id: 'secretsEnd',
    sentence:
      "An attempt's secrets are deleted when it has ended. After a failure they are kept for an hour at most, for another try; those of an attempt that another has replaced lapse with its time.",
  },
  {
    id: 'noSecrets',
    sentence: 'No secret is part of a saved state, an event, an answer of an effect or the journal.',
  },
] as const;
