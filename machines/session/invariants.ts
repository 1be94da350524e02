/** What holds of every session, whatever happens and whenever the program dies. */

export const sessionInvariants = [
  {
    id: 'savedFirst',
    sentence:
      'Where a transition leads is saved before its effect is performed. So a crash repeats an effect and never loses one.',
  },
  {
    id: 'oneDriver',
    sentence:
      "Of any number of drivers one moves a session at a time: the row's lease, by the database's clock, and its revision see to that.",
  },
  { id: 'oneEffect', sentence: 'At most one effect is pending.' },
  {
    id: 'deadlineFirst',
    sentence: 'A deadline that has passed counts before an answer that comes after it.',
  },
  {
    id: 'slots',
    sentence:
      'No slot is granted while MAX_CONCURRENT sessions hold one. A session that may have a vm keeps its slot until the vm is seen stopped.',
  },
  {
    id: 'oneAcceptor',
    sentence:
      'Each episode claims under an acceptor of its own, which is saved before the first claim. The same acceptor only ever renews.',
  },
  {
    id: 'noBlindRenewal',
    sentence:
      'Between a launch and the row that says `running`, nothing renews the claim for its own sake: a remote that never connects is given up within five minutes of its launch.',
  },
  {
    id: 'oneBoot',
    sentence: 'Only `openSandbox` boots a vm, and only provisioning performs it.',
  },
  {
    id: 'oneRemote',
    sentence:
      'At most one remote runs in a vm: each launch takes the launch lock first, and ends what an earlier one left.',
  },
  {
    id: 'confirmedEnd',
    sentence:
      'While the session is served, the queue alone ends nothing: a single read has to confirm it, and `suspended` takes several in a row.',
  },
  {
    id: 'diskFirst',
    sentence:
      'The vm is seen stopped, which saves its disk, before the claim is given back. So a resume cannot begin while the disk is being saved.',
  },
  {
    id: 'stopsFromTheStop',
    sentence: 'A vm that is to stop is never extended: one that cannot be stopped ends by itself.',
  },
  {
    id: 'filesAreKept',
    sentence:
      'Files are deleted only when Devin says `terminated`, or when the session has been at rest for as long as snapshots are kept.',
  },
  {
    id: 'ownSandboxes',
    sentence:
      "A sandbox that stands under a session's name without its tags is neither used, stopped nor deleted.",
  },
  {
    id: 'neverOverwritten',
    sentence:
      'A saved state that does not parse is set aside for a person, and one of a newer version is left alone. Neither is overwritten or started anew.',
  },
  {
    id: 'noSecrets',
    sentence: 'No secret is part of a saved state, an event, an answer of an effect or the journal.',
  },
] as const;
