/**
 * Imports point one way:
 *
 *   api, cli -> compose -> dispatch, dashboard -> runtime, effects -> ports -> machines -> xstate, zod
 *
 * Adapters (devin, sandbox, store) implement ports and know no decisions. Each
 * library from outside has one door.
 */

const layers = [
  ['machines-import-nothing-of-ours', '^machines/', '^(src|api|test|bench)/'],
  ['ports-are-below-all-parts', '^src/(ports/|errors)', '^src/(?!ports/|errors)'],
  [
    'runtime-and-effects-know-ports-only',
    '^src/(runtime|effects)/',
    '^src/(?!runtime/|effects/|ports/|errors)',
  ],
  [
    'dispatch-does-not-know-the-surface',
    '^src/dispatch/',
    '^src/(config|dashboard|cli|emulator|devin|sandbox|store|compose)',
  ],
  ['the-page-draws-only', '^src/dashboard/', '^(machines/|src/(?!dashboard/|errors))'],
  ['the-vault-knows-ports-only', '^src/vault/', '^(machines/|src/(?!vault/|ports/|errors))'],
  ['roles-know-no-routes', '^src/operators/', '^(machines/|src/(?!operators/|vault/|ports/|errors))'],
  [
    'connecting-knows-no-surface',
    '^src/connect/',
    '^src/(config|dashboard|http|cli|emulator|devin|sandbox|store|vault|operators|pass|workflows)',
  ],
  ['settings-stand-alone', '^src/config/', '^(machines/|src/(?!config/|errors))'],
  [
    'adapters-know-no-decisions',
    '^src/(devin|sandbox|store)/',
    '^(machines/|src/(runtime|effects|dispatch|dashboard|cli|emulator|config|compose))',
  ],
  ['stores-know-no-clouds', '^src/store/', '^src/(devin|sandbox)/'],
  [
    'emulators-know-no-orchestrator',
    '^src/emulator/',
    '^(machines/|src/(runtime|effects|dispatch|dashboard|cli|store|config|compose))',
  ],
  ['only-cli-tests-and-bench-use-emulators', '^(machines|api)/|^src/(?!cli/|emulator/)', '^src/emulator/'],
  ['nothing-imports-the-surface', '^(machines/|src/(?!cli/))', '^(api|src/cli)/'],
  ['only-the-command-line-builds', '^(machines|api)/|^src/(?!cli/|build/)', '^src/build/'],
  ['builds-know-no-decisions', '^src/build/', '^(machines/|src/(?!build/|config/|errors))'],
  ['diagrams-draw-machines', '^src/diagrams/', '^(api|src/(?!diagrams/|errors))'],
  [
    'only-their-script-and-the-terminal-draw-diagrams',
    '^(machines|api)/|^src/(?!diagrams/|cli/)',
    '^src/diagrams/',
  ],
  ['only-the-surface-composes', '^(machines/|src/(?!cli/|compose))', '^src/compose'],
];

const doors = [
  ['only-sandbox-imports-the-sdk', '^src/sandbox/', '@vercel/sandbox'],
  ['only-store-imports-sql', '^src/store/', '(kysely|@libsql/client|pg)'],
  ['only-config-reads-dotenv', '^src/config/', 'dotenv'],
  ['only-hosts-and-runs-know-the-engine', '^src/(workflows|build|cli)/', '(workflow|@workflow/[^/]+)'],
  ['only-vault-and-roles-sign-and-seal', '^src/(vault|operators)/', 'jose'],
  ['only-diagrams-are-laid-out', '^src/diagrams/', 'elkjs'],
  ['only-cli-knows-the-terminal', '^src/cli/', '(commander|log-update)'],
];

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: ['\\.d\\.ts$', '^test/', '^src/dashboard/assets/', '\\.mjs$', '^src/errors\\.ts$'],
      },
      to: {},
    },
    { name: 'all-imports-resolve', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-development-packages-in-the-product',
      severity: 'error',
      from: { path: '^(machines|src|api)/', pathNot: '^src/diagrams/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'machines-see-no-outside',
      comment: 'No Date, fetch, process, timer or console either: biome.json refuses those.',
      severity: 'error',
      from: { path: '^machines/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'machines-import-statecharts-and-schemas-only',
      severity: 'error',
      from: { path: '^machines/' },
      to: { path: 'node_modules/', pathNot: 'node_modules/(xstate|zod|@xstate/store)/' },
    },
    ...layers.map(([name, from, to]) => ({
      name,
      severity: 'error',
      from: { path: from },
      to: { path: to },
    })),
    ...doors.map(([name, door, library]) => ({
      name,
      severity: 'error',
      from: { path: '^(machines|src|api)/', pathNot: door },
      to: { path: `node_modules/${library}/` },
    })),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
