import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The structure test: the repository checks its own shape. */

const ROOT = path.resolve(__dirname, '..');

/**
 * From top to bottom: a folder may import from the rows below its own, and from nothing beside or above it. Subfolders belong to their
 * parent, unless they have a row of their own.
 */
const LAYERS: readonly (readonly string[])[] = [
  ['e2e'],
  ['orch'],
  ['deploy/local'],
  ['deploy/admin'],
  ['deploy/convert'],
  ['package'],
  ['controller-manager/node', 'controller-manager/scheduler'],
  ['controller-manager'],
  [
    'controller-manager/account-tokens',
    'controller-manager/bootstrap-tokens',
    'controller-manager/certificates',
    'controller-manager/cronjob',
    'controller-manager/daemonset',
    'controller-manager/deployment',
    'controller-manager/disruption',
    'controller-manager/endpoints',
    'controller-manager/garbage-collector',
    'controller-manager/job',
    'controller-manager/namespace',
    'controller-manager/namespace-objects',
    'controller-manager/podgc',
    'controller-manager/policy-status',
    'controller-manager/replicaset',
    'controller-manager/resource-quota',
    'controller-manager/role-aggregation',
    'controller-manager/statefulset',
    'controller-manager/storage-versions',
    'controller-manager/ttl-after-finished',
    'controller-manager/service-cidrs',
    'controller-manager/volume-protection',
  ],
  ['controller-manager/pods'],
  ['controller-manager/runtime'],
  ['apiserver/testing'],
  ['apiserver'],
  ['apiserver/compose'],
  ['apiserver/kubernetes/bootstrap'],
  ['apiserver/kubernetes/discovery', 'apiserver/kubernetes/openapi'],
  ['apiserver/kubernetes/aggregation'],
  ['apiserver/kubernetes/custom-resources', 'apiserver/kubernetes/admission'],
  ['apiserver/kubernetes/auth', 'apiserver/kubernetes/kinds'],
  ['apiserver/kubernetes/cluster'],
  ['apiserver/engine'],
  ['apiserver/engine/workers', 'apiserver/engine/observability'],
  ['apiserver/engine/handlers', 'apiserver/engine/audit'],
  ['apiserver/engine/proxy'],
  ['apiserver/engine/server', 'apiserver/engine/fairness'],
  ['apiserver/engine/encoding', 'apiserver/engine/impersonation'],
  ['apiserver/engine/authn'],
  ['apiserver/engine/authz'],
  ['apiserver/engine/remote'],
  ['apiserver/engine/registry'],
  ['apiserver/engine/watch-cache'],
  ['apiserver/engine/storage', 'apiserver/engine/request'],
  ['shared/informer'],
  ['shared/client'],
  ['shared/structural'],
  ['shared/conversion', 'shared/defaults', 'shared/fieldset', 'shared/patch', 'shared/protobuf'],
  ['shared/quota', 'shared/schema', 'shared/tokens'],
  ['shared/certs'],
  ['shared/meta'],
  ['shared/concurrency', 'shared/errors'],
  ['shared/api'],
  ['shared/cel', 'shared/files', 'shared/flags', 'shared/log', 'shared/metrics', 'shared/object'],
  ['shared'],
];

/** Imports of test support that point up, each with its reason; the list may only shrink. */
const SUPPORT_IMPORTS_UP: readonly (readonly [from: string, to: string])[] = [
  // The suites over every store start a real etcd, as `npm run start:ha` does.
  ['apiserver/testing/stores.ts', 'deploy/local/etcd-cluster'],
];

/** Groups of files that import each other, types included. May only be lowered. */
const TYPE_CYCLES_MAX = 9;

/** Pairs that must not import each other whatever their rows: the programs meet over the wire only. */
const FORBIDDEN_IMPORTS: readonly (readonly [from: string, to: string])[] = [
  ['controller-manager', 'apiserver'],
  ['deploy/local', 'deploy/admin'],
  ['deploy/local', 'deploy/convert'],
  ['deploy/admin', 'deploy/convert'],
  ['deploy', 'apiserver'],
  ['deploy', 'controller-manager'],
  ['e2e', 'deploy/admin'],
  ['e2e', 'deploy/convert'],
  ['deploy', 'orch'],
  ['e2e', 'orch'],
  ['e2e', 'apiserver'],
  ['e2e', 'controller-manager'],
  ['e2e', 'package'],
];

/** Plants bugs into the programs to test the checkers, so it may import them. */
const PLANTER = 'e2e/robustness/planted/';

/** Entry points, which no file imports. */
const PROGRAMS: ReadonlySet<string> = new Set([
  'deploy/admin/main.ts',
  'deploy/convert/main.ts',
  'apiserver/main.ts',
  'apiserver/serve.ts',
  'apiserver/compose/worker/thread.ts',
  'controller-manager/main.ts',
  'controller-manager/node/main.ts',
  'controller-manager/scheduler/main.ts',
  'orch/main.ts',
  'orch/client/index.ts',
  'orch/envtest/etcd.ts',
  'orch/validate/main.ts',
  'package/control-plane.ts',
  'package/testing.ts',
  'shared/schema/generate-types.ts',
]);

const CODE_LINES_MAX = 350;
/** Generated files. */
const GENERATED = 'shared/api/types/';
/** Files that may be longer, each with the reason. */
const LONG_FILES: Readonly<Record<string, string>> = {};

/** May only be lowered. */
const MARKER_WORDS_MAX = 10;
const TEXT_FILE = /\.(?:ts|mjs|cjs|js|md|json|ya?ml|sh|tpl|service|timer)$|Dockerfile$/u;
/** Recorded exchanges and lock files hold words that the project did not write. */
const RECORDED_DATA = /^package-lock\.json$|\/corpus\/|\/recorded\//u;

const DECISIONS = 'apiserver/docs/adr';
const DECISION_PARTS = ['Context', 'Decision', 'Consequences'] as const;
const DECISION_STATUS = /^(?:accepted|superseded by ADR \d+)(?:; .+[^.])?$/u;

const files = listFiles(ROOT).map((file) => path.relative(ROOT, file));
const sources = files.filter((file) => file.endsWith('.ts'));
const program = sources.filter((file) => !/\.test\.ts$|(?:^|\/)testing\//u.test(file));
const documents = files.filter((file) => file.endsWith('.md'));

describe('layers', () => {
  test('every folder with sources is in the record, and the record names no missing folder', () => {
    const folders = new Set(program.map((file) => path.dirname(file)));
    expect([...folders].filter((folder) => layerOf(`${folder}/x.ts`) === undefined)).toEqual([]);
    // The roots of the programs and of the two halves would swallow a new folder, so the next level must be spelled out.
    const nextLevel = [...folders].filter((folder) =>
      /^(?:apiserver|controller-manager|shared)\//u.test(folder),
    );
    const known = new Set(LAYERS.flat());
    const depthOf = (folder: string): number => (/^apiserver\/(?:engine|kubernetes)\//u.test(folder) ? 3 : 2);
    expect(
      nextLevel.filter(
        (folder) =>
          folder !== 'apiserver/engine' && !known.has(folder.split('/').slice(0, depthOf(folder)).join('/')),
      ),
    ).toEqual([]);
    expect([...known].filter((folder) => !existsSync(path.join(ROOT, folder)))).toEqual([]);
  });

  test('imports point down, also those of test support', () => {
    const support = sources.filter((file) => /(?:^|\/)testing\//u.test(file) && !file.endsWith('.test.ts'));
    const upward = imports([...program, ...support])
      .filter(({ from, to }) => layerOf(from) !== layerOf(to) && rankOf(to) <= rankOf(from))
      .map(({ from, to }) => `${from} imports ${to}`);
    expect(upward).toEqual(SUPPORT_IMPORTS_UP.map(([from, to]) => `${from} imports ${to}`));
  });

  test('cycles of types become fewer', () => {
    expect(importCycles(program).length).toBeLessThanOrEqual(TYPE_CYCLES_MAX);
  });

  test('the programs do not import each other', () => {
    const strange = imports(program).filter(
      ({ from, to }) =>
        !from.startsWith(PLANTER) &&
        FORBIDDEN_IMPORTS.some(([a, b]) => from.startsWith(`${a}/`) && to.startsWith(`${b}/`)),
    );
    expect(strange.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  test('every source file is a program, or one imports it', () => {
    const imported = new Set(imports(program).map(({ to }) => `${to}.ts`));
    const parts = program.filter((file) =>
      /^(?:deploy\/(?:admin|convert)|orch|apiserver|controller-manager|package|shared)\//u.test(file),
    );
    expect(parts.filter((file) => !imported.has(file) && !PROGRAMS.has(file))).toEqual([]);
  });

  test('modules are loaded by import statements only', () => {
    const loaders = program.filter((file) => /\brequire\(|\bimport\(/u.test(withoutComments(read(file))));
    // The types of aws4fetch need the DOM library, so it is not imported.
    expect(loaders).toEqual(['deploy/admin/backup/s3-target.ts']);
  });
});

const NAME_FILES: ReadonlySet<string> = new Set([
  'shared/deprecated-names.ts',
  'shared/dialect.ts',
  'shared/names.ts',
  'shared/workload-names.ts',
]);

describe('text', () => {
  test('only shared/names.ts and shared/dialect.ts spell an identifier of a dialect', () => {
    const identifier =
      /(['"`])[^'"`\n]*(?:\w\.orch\b|\borch\.io\b|k8s\.io|kubernetes\.io|\b(?:orch|kube)-(?:system|public)\b)[^'"`\n]*\1/u;
    const speakers = program.filter(
      (file) =>
        !NAME_FILES.has(file) && !file.startsWith('e2e/') && identifier.test(withoutComments(read(file))),
    );
    expect(speakers).toEqual([]);
  });

  test('only tables name a release of Kubernetes', () => {
    const named = program.filter((file) =>
      /\bisAtLevel\(\{\s*(?:since|until):/u.test(withoutComments(read(file))),
    );
    expect(named).toEqual([]);
  });

  test('no source file is too long for one sitting', () => {
    const written = program.filter((file) => !file.startsWith(GENERATED));
    const long = written.filter((file) => !(file in LONG_FILES) && codeLines(read(file)) > CODE_LINES_MAX);
    expect(long.map((file) => `${file}: ${String(codeLines(read(file)))} lines`)).toEqual([]);
    const settled = Object.keys(LONG_FILES).filter((file) => codeLines(read(file)) <= CODE_LINES_MAX);
    expect(settled).toEqual([]);
  });

  test('log messages begin lower-case, have no full stop, and name an error `error`', () => {
    const call = /\blog\.(?:trace|debug|info|warn|error|fatal)\((?:(?!;\n)[\s\S])*?;\n/gu;
    const odd = /[{,]\s*(?:err|why|because)\b\s*[:,}]|[,?:]\s['"`][A-Z][a-z ]|[^.]\.['"`],?\s*\);\n$/u;
    const calls = program.flatMap((file) =>
      [...withoutComments(read(file)).matchAll(call)].map(([text]) => `${file}: ${text.trim()}\n`),
    );
    expect(calls.filter((text) => odd.test(text))).toEqual([]);
  });

  test('what a class keeps to itself is #private; the keyword is for constructors only', () => {
    const keyword = /^ +(?:private|protected) (?!constructor\()/mu;
    expect(sources.filter((file) => keyword.test(withoutComments(read(file))))).toEqual([]);
  });

  test('the marker words of unclear prose become fewer', () => {
    // The words are an indicator, not the problem: a sentence that uses one of them usually has no clear subject.
    const marker = /\b(?:told|nobody|whoever|anew)\b/giu;
    const texts = files.filter(
      (file) => TEXT_FILE.test(file) && !RECORDED_DATA.test(file) && file !== 'shared/tidy.test.ts',
    );
    const count = texts.reduce((sum, file) => sum + (read(file).match(marker)?.length ?? 0), 0);
    expect(count).toBeLessThanOrEqual(MARKER_WORDS_MAX);
  });

  test('nothing is left to be done later in a comment', () => {
    const mark = new RegExp(['TO', 'DO|FIX', 'ME|XX', 'X:'].join(''), 'u');
    const marked = [...sources, ...documents].filter((file) => mark.test(read(file)));
    expect(marked).toEqual([]);
  });
});

describe('tests hold on any machine', () => {
  const tests = sources.filter((file) => !program.includes(file) || file.startsWith('e2e/'));

  test('only jest.config.js limits the time of tests and hooks', () => {
    const limited = tests.flatMap((file) => limitsIn(read(file)).map((line) => `${file}: ${line}`));
    expect(limited).toEqual([]);
  });

  test('no test asserts a duration or a cost', () => {
    const measured =
      /expect\((?:(?!;\n)[\s\S])*?(?:performance\.now|Date\.now|hrtime|memoryUsage|cpuUsage|[eE]lapsed|\btook\b|PerSecond|[a-z]Ms\b)(?:(?!;\n)[\s\S])*?\.toBeLess/u;
    expect(tests.filter((file) => measured.test(read(file)))).toEqual([]);
  });
});

describe('documents', () => {
  test('every relative link leads somewhere', () => {
    const broken = documents.flatMap((file) =>
      [...read(file).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/gu)]
        .map(([, target = '']) => path.join(path.dirname(file), target))
        .filter((target) => !existsSync(path.join(ROOT, target)))
        .map((target) => `${file} links to ${target}`),
    );
    expect(broken).toEqual([]);
  });

  test('every bound that all users share names a test that exists', () => {
    const [, section = ''] = read('deploy/SECURITY.md').split('### Bounds that all users share\n');
    const [table = ''] = section.split('\n### ');
    const rows = table.split('\n').filter((line) => line.startsWith('| '));
    const proofs = rows.slice(2).map((row) => {
      const [, file = '', title = ''] = /`([^`]+\.test\.ts)` › ([^|]+?) +\|$/u.exec(row) ?? [];
      return { file, title, isFound: title !== '' && read(file).includes(`('${title}`) };
    });
    expect(proofs.length).toBeGreaterThan(10);
    expect(proofs.filter(({ isFound }) => !isFound)).toEqual([]);
  });

  test('every decision record has a number of its own, a title with that number, a status, and the three parts', () => {
    const records = decisionRecords();
    const numbers = records.map((name) => /^(\d{4})-[a-z0-9-]+\.md$/u.exec(name)?.[1]);
    expect(numbers).not.toContain(undefined);
    expect(new Set(numbers).size).toBe(numbers.length);
    const incomplete = records.filter((name) => {
      const text = read(path.join(DECISIONS, name));
      const { number, status } = headOf(text);
      const hasHead = number === Number(name.slice(0, 4)) && DECISION_STATUS.test(status);
      return !hasHead || !DECISION_PARTS.every((part) => text.includes(`\n## ${part}\n`));
    });
    expect(incomplete).toEqual([]);
  });

  test('the index of decisions has a row for every record, with its title and its status', () => {
    const wanted = decisionRecords().map((name) => {
      const { title, status } = headOf(read(path.join(DECISIONS, name)));
      return `[${name.slice(0, 4)}](${name}) | ${title} | ${status}`;
    });
    const rows = read(path.join(DECISIONS, 'README.md'))
      .split('\n')
      .filter((line) => line.startsWith('| ['))
      .map((line) =>
        line
          .split('|')
          .slice(1, 4)
          .map((cell) => cell.trim())
          .join(' | '),
      );
    expect(rows).toEqual(wanted);
  });

  test('every folder of the record that is a program or a library is explained in CONTRIBUTING.md', () => {
    const guide = read('CONTRIBUTING.md');
    // Controllers are explained by the list of them.
    const isController = (folder: string): boolean =>
      folder.startsWith('controller-manager/') && !folder.endsWith('/runtime');
    const unnamed = LAYERS.flat().filter(
      (folder) => !isController(folder) && !guide.includes(`\`${folder}/\``),
    );
    expect(unnamed).toEqual([]);
  });
});

function decisionRecords(): readonly string[] {
  return readdirSync(path.join(ROOT, DECISIONS))
    .filter((name) => name !== 'README.md')
    .sort();
}

/** The title of a record, `# 7. A watch cache`, and its third line, `Status: accepted`. */
function headOf(text: string): { readonly number: number; readonly title: string; readonly status: string } {
  const [first = '', , third = ''] = text.split('\n');
  const [, number = '', title = ''] = /^# (\d+)\. (.+)$/u.exec(first) ?? [];
  const [, status = ''] = /^Status: (.+)$/u.exec(third) ?? [];
  return { number: Number(number), title, status };
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.') || ['node_modules', 'dist', 'coverage'].includes(entry.name)) return [];
    const file = path.join(folder, entry.name);
    return entry.isDirectory() ? listFiles(file) : [file];
  });
}

function read(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

/** Relative imports, as pairs of paths from the root. */
function imports(from: readonly string[]): readonly { readonly from: string; readonly to: string }[] {
  return from.flatMap((file) =>
    [...read(file).matchAll(/\bfrom '(\.[^']+)'/gu)].map(([, target = '']) => ({
      from: file,
      to: path.join(path.dirname(file), target),
    })),
  );
}

/** The strongly connected components of more than one file in the graph of imports (Tarjan's algorithm). */
function importCycles(from: readonly string[]): readonly (readonly string[])[] {
  const targets = new Map<string, string[]>(from.map((file) => [file, []]));
  for (const { from: file, to } of imports(from))
    if (targets.has(`${to}.ts`)) targets.get(file)?.push(`${to}.ts`);
  const order = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): number => {
    const number = order.size;
    order.set(file, number);
    open.push(file);
    let low = number;
    for (const target of targets.get(file) ?? []) {
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (open.includes(target)) low = Math.min(low, order.get(target) ?? low);
    }
    if (low === number) {
      const component = open.splice(open.indexOf(file));
      if (component.length > 1) cycles.push(component);
    }
    return low;
  };
  for (const file of from) if (!order.has(file)) visit(file);
  return cycles;
}

/** The longest folder of the record that holds the file. */
function layerOf(file: string): string | undefined {
  return LAYERS.flat()
    .filter((folder) => file.startsWith(`${folder}/`))
    .sort((a, b) => b.length - a.length)[0];
}

/** The row of a file's folder; 0 is the top. */
function rankOf(file: string): number {
  const layer = layerOf(file);
  return LAYERS.findIndex((row) => layer !== undefined && row.includes(layer));
}

/** The lines that give a test or a hook a limit of its own, in the form that prettier leaves. */
function limitsIn(text: string): readonly string[] {
  const opened = new Map<number, string>();
  let before = '';
  return text.split('\n').filter((line) => {
    const indent = line.search(/\S/u);
    const isTest = /^(?:(?:test|it|(?:before|after)(?:All|Each))\b|\]\)\()/u.test(opened.get(indent) ?? '');
    const isLimit = /^\s*\}, .+\);$/u.test(line) || (/^\s*\);$/u.test(line) && /^\s*[\w.]+,$/u.test(before));
    if (indent >= 0 && !/^[})]/u.test(line.trim())) opened.set(indent, line.trim());
    before = line;
    return /jest\.setTimeout\(/u.test(line) || (isTest && isLimit);
  });
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//gu, '').replaceAll(/^\s*\/\/.*$/gmu, '');
}

function codeLines(text: string): number {
  return withoutComments(text)
    .split('\n')
    .filter((line) => line.trim() !== '').length;
}
