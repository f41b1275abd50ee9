/** The suites of the repository, each with its tier (test-tiers.json), and the groups in which unit suites run. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { SOURCE_FOLDERS, repositoryRoot } from './toolchain.mjs';

export const TIERS = ['everyday', 'rest', 'nightly'];

const TABLE_FILE = path.join(repositoryRoot, 'deploy', 'local', 'test-tiers.json');
/** Ignored by git. Its files are written again for each run. */
const GROUPS_FOLDER = path.join(repositoryRoot, '.test-groups');
const SUITES_PER_GROUP = 13;
/** Modules of many suites stay in memory until their group ends; a worker above this is replaced. */
const WORKER_MEMORY_MAX = '1GB';

/**
 * Every suite, sorted by path: `{ file, tier, budgetSeconds, isUnit, isAlone }`. `file` is relative to the repository. A suite that no tier lists
 * is an everyday one if it is a unit suite; otherwise its tier is undefined, which the structure test reports.
 */
export function listSuites() {
  const table = readTable();
  return SOURCE_FOLDERS.flatMap(findSuites)
    .sort()
    .map((file) => {
      const isUnit = table.unit.some((prefix) => file === prefix || file.startsWith(`${prefix}/`));
      const tier = TIERS.find((name) => file in table[name]) ?? (isUnit ? 'everyday' : undefined);
      const budgetSeconds = table[tier]?.[file] ?? table.unitSeconds;
      return {
        file,
        tier,
        budgetSeconds,
        isUnit,
        isAlone: !isUnit || file in table.alone || resetsModules(file),
      };
    });
}

export function readTable() {
  return JSON.parse(readFileSync(TABLE_FILE, 'utf8'));
}

/**
 * Writes the groups of `suites` and the configuration of jest for them. Returns the path of the configuration, that of the list of groups, and
 * those of the files to run, relative to the repository: groups, and suites that run alone.
 */
export function writeGroups(suites) {
  rmSync(GROUPS_FOLDER, { recursive: true, force: true });
  mkdirSync(GROUPS_FOLDER);
  const grouped = suites.filter(({ isAlone }) => !isAlone).map(({ file }) => file);
  const count = Math.ceil(grouped.length / SUITES_PER_GROUP);
  const size = Math.ceil(grouped.length / count);
  const groups = Array.from({ length: count }, (_, index) => {
    const members = grouped.slice(index * size, (index + 1) * size);
    const file = path.join(GROUPS_FOLDER, `group-${String(index).padStart(2, '0')}.test.cjs`);
    writeFileSync(
      file,
      `require('../deploy/local/test-group.cjs')(__filename, ${JSON.stringify(members, null, 2)});\n`,
    );
    return { file: path.relative(repositoryRoot, file), members };
  });
  const alone = suites.filter(({ isAlone }) => isAlone).map(({ file }) => file);
  const groupsFile = path.join(GROUPS_FOLDER, 'groups.json');
  writeFileSync(
    groupsFile,
    JSON.stringify({
      members: Object.fromEntries(groups.map(({ file, members }) => [file, members])),
      budgets: Object.fromEntries(suites.map(({ file, budgetSeconds }) => [file, budgetSeconds])),
    }),
  );
  const { testTimeout, projects } = createRequire(import.meta.url)('../../jest.config.js');
  const { displayName: _, testMatch: __, ...common } = projects[0];
  const configFile = path.join(GROUPS_FOLDER, 'jest.config.json');
  writeFileSync(
    configFile,
    JSON.stringify({
      ...common,
      testTimeout,
      rootDir: repositoryRoot,
      testMatch: ['<rootDir>/**/*.test.{ts,cjs}'],
      workerIdleMemoryLimit: WORKER_MEMORY_MAX,
    }),
  );
  return { configFile, groupsFile, files: [...alone, ...groups.map(({ file }) => file)] };
}

/** Such a suite would give the others of its group second instances of their modules. */
function resetsModules(file) {
  return /\b(?:jest\.resetModules|loadAtLevel|loadInDialect)\(/u.test(
    readFileSync(path.join(repositoryRoot, file), 'utf8'),
  );
}

function findSuites(folder) {
  return readdirSync(path.join(repositoryRoot, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => path.relative(repositoryRoot, path.join(entry.parentPath ?? entry.path, entry.name)));
}
