import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createClient } from '../../../shared/client/client';
import { systemClock } from '../../../shared/concurrency/clock';
import type { FlagRow, FlagValues } from '../../../shared/flags/flag-row';
import { SERVICE_ACCOUNT_MOUNT_PATH } from '../../../shared/names';
import type { Command, CommandOutcome } from '../../../shared/flags/command';
import { parsedCommand, readFlagFile } from '../../../shared/flags/command';
import { OUTPUT_FLAG, painted, createOutcome } from '../output';
import type { BundleStore } from './bundle-store';
import { ensureBundles } from './ensure';
import { expiries } from './expiry';
import { openFolderStore } from './folder-store';
import type { Plan } from './plan';
import { parsePlan, PlanError } from './plan';
import type { RotationResult } from './rotate';
import { describeRotation, rotateAuthority, ROTATION_PHASES } from './rotate';
import { openSecretStore } from './secret-store';

const PLAN_FLAGS = [
  {
    name: 'plan',
    type: 'string',
    default: '',
    group: 'Generic',
    help: 'The file (YAML or JSON) that names the authorities, certificates and keys of the control plane.',
  },
  {
    name: 'dir',
    type: 'string',
    default: '',
    group: 'Where bundles are kept',
    help: 'A directory with a folder for each bundle. Either this or --secrets-namespace.',
  },
  {
    name: 'secrets-namespace',
    type: 'string',
    default: '',
    group: 'Where bundles are kept',
    help: 'The namespace whose Secrets are the bundles, in the cluster that this process is a pod of.',
  },
  {
    name: 'secrets-labels',
    type: 'stringList',
    default: [],
    group: 'Where bundles are kept',
    help: 'Labels (<key>=<value>) of the Secrets that are made.',
  },
  OUTPUT_FLAG,
] as const satisfies readonly FlagRow[];

const ENSURE_FLAGS = [
  ...PLAN_FLAGS,
  {
    name: 'renew-only',
    type: 'bool',
    default: false,
    group: 'Generic',
    help: 'Never create an authority, a key or a password. A missing one is reported, and the exit code is 1.',
  },
  {
    name: 'replace',
    type: 'stringList',
    default: [],
    group: 'Generic',
    help: 'Names of authorities, keys or passwords to create again although they existed before, or of authorities whose new fingerprint is accepted. What the old one signed or encrypted becomes unusable.',
  },
] as const satisfies readonly FlagRow[];

const ROTATE_FLAGS = [
  ...PLAN_FLAGS,
  {
    name: 'authority',
    type: 'stringList',
    default: [],
    group: 'Generic',
    help: 'Names of authorities of the plan. Defaults to all, whose states are shown if there is no --phase.',
  },
  {
    name: 'phase',
    type: 'enum',
    values: ['', ...ROTATION_PHASES],
    default: '',
    group: 'Generic',
    help: 'trust: create a successor, trusted beside the current authority; issue: issue all certificates by the successor; finish: remove the predecessor; undo-issue and undo-trust: take the phase back. A phase that was interrupted is completed by running it again.',
  },
  {
    name: 'settle',
    type: 'duration',
    default: '5m0s',
    group: 'Generic',
    help: 'How long programs may take to read changed files. The next phase is refused before.',
  },
] as const satisfies readonly FlagRow[];

const CHECK_FLAGS = [
  ...PLAN_FLAGS,
  {
    name: 'warn-days',
    type: 'int',
    default: 30,
    min: 0,
    group: 'Generic',
    help: 'Exit with code 1 if a certificate is missing or has fewer days left than these.',
  },
] as const satisfies readonly FlagRow[];

/** The commands about certificates. */
export const CERTS_COMMANDS: readonly Command[] = [
  parsedCommand({
    name: ['certs', 'ensure'],
    group: 'Certificates',
    summary:
      'Creates certificates and keys that never existed, and renews certificates in their last third; exit code 1 if a bundle is refused.',
    flags: ENSURE_FLAGS,
    run: ensure,
  }),
  parsedCommand({
    name: ['certs', 'rotate-ca'],
    group: 'Certificates',
    summary:
      'Replaces authorities phase by phase, without an interruption; exit code 1 if a phase has to be run again later.',
    flags: ROTATE_FLAGS,
    run: rotate,
  }),
  parsedCommand({
    name: ['certs', 'check'],
    group: 'Certificates',
    summary: 'Shows how long each certificate is valid; exit code 1 says that one is missing or soon ends.',
    flags: CHECK_FLAGS,
    run: check,
  }),
];

type PlanValues = FlagValues<typeof PLAN_FLAGS>;

async function ensure(values: FlagValues<typeof ENSURE_FLAGS>): Promise<CommandOutcome> {
  return withStore(values, async (plan, store) => {
    const { renewOnly, replace } = values;
    const strange = replace.filter((name) => !isReplaceable(plan, name));
    if (strange.length > 0)
      return {
        errors: strange.map((name) => `--replace: "${name}" is no authority, key or password of the plan`),
      };
    const ensured = await ensureBundles(plan, store, systemClock, { isRenewal: renewOnly, replace });
    const lines = ensured.map(
      ({ name, action, reason }) =>
        `${action === 'refused' ? painted(action, 'bad') : action} ${name}${reason === '' ? '' : ` (${reason})`}`,
    );
    const isRefused = ensured.some(({ action }) => action === 'refused');
    return createOutcome(values.output, { json: { bundles: ensured }, lines, code: isRefused ? 1 : 0 });
  });
}

function isReplaceable(plan: Plan, name: string): boolean {
  const { authorities, tokenKeys, encryptionKeys, passwords } = plan;
  return [
    ...[...authorities, ...encryptionKeys].map((each) => each.name),
    ...tokenKeys,
    ...passwords,
  ].includes(name);
}

async function rotate(values: FlagValues<typeof ROTATE_FLAGS>): Promise<CommandOutcome> {
  return withStore(values, async (plan, store) => {
    const { authority: names, phase, settleMs } = values;
    const strange = names.filter((name) => !plan.authorities.some((each) => each.name === name));
    if (strange.length > 0)
      return { errors: strange.map((name) => `--authority: "${name}" is no authority of the plan`) };
    if (phase !== '' && names.length === 0) return { errors: ['--authority is required with --phase'] };
    const results: RotationResult[] = [];
    for (const each of plan.authorities.filter(({ name }) => names.length === 0 || names.includes(name)))
      results.push(
        phase === ''
          ? await describeRotation(store, each.name)
          : await rotateAuthority({ plan, store, clock: systemClock, settleMs }, each, phase),
      );
    const lines = results.map(
      ({ authority, state, isDone, message }) =>
        `${authority}: ${isDone ? state : painted(state, 'bad')} (${message})`,
    );
    const code = results.every(({ isDone }) => isDone) ? 0 : 1;
    return createOutcome(values.output, { json: { authorities: results }, lines, code });
  });
}

async function check(values: FlagValues<typeof CHECK_FLAGS>): Promise<CommandOutcome> {
  return withStore(values, async (plan, store) => {
    const rows = await expiries(plan, store, systemClock);
    const lines = rows.map(({ name, until, daysLeft }) =>
      until === undefined
        ? `${name}: ${painted('missing', 'bad')}`
        : `${name}: ${String(daysLeft)} days left, until ${until}`,
    );
    const isFine = rows.every(({ daysLeft }) => daysLeft !== undefined && daysLeft >= values.warnDays);
    return createOutcome(values.output, { json: { certificates: rows }, lines, code: isFine ? 0 : 1 });
  });
}

async function withStore(
  values: PlanValues,
  run: (plan: Plan, store: BundleStore) => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const { plan, dir, secretsNamespace, secretsLabels } = values;
  const errors = [
    ...(plan === '' ? ['--plan is required'] : []),
    ...((dir === '') === (secretsNamespace === '')
      ? ['either --dir or --secrets-namespace must be given']
      : []),
    ...secretsLabels
      .filter((each) => !each.includes('='))
      .map((each) => `--secrets-labels must be like key=value, not "${each}"`),
  ];
  if (errors.length > 0) return { errors };
  const parsed = readPlan(plan);
  const store = dir === '' ? openClusterStore(values) : openFolderStore(dir);
  try {
    return await run(parsed, store);
  } finally {
    store.close();
  }
}

function readPlan(file: string): Plan {
  const text = readFlagFile('plan', file).toString();
  try {
    return parsePlan(text);
  } catch (error) {
    throw error instanceof PlanError ? new PlanError(`${file}: ${error.message}`, error) : error;
  }
}

/** The cluster says to its pods where its API server is, and who they are. */
function openClusterStore({ secretsNamespace, secretsLabels }: PlanValues): BundleStore {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  if (host === undefined || port === undefined)
    throw new Error('this process is no pod of a cluster: KUBERNETES_SERVICE_HOST and _PORT are not set');
  const client = createClient({
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca: readFileSync(path.join(SERVICE_ACCOUNT_MOUNT_PATH, 'ca.crt')),
    tokenFile: path.join(SERVICE_ACCOUNT_MOUNT_PATH, 'token'),
    userAgent: 'orch-admin',
  });
  const labels = Object.fromEntries(
    secretsLabels.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
  );
  return openSecretStore({ client, namespace: secretsNamespace, labels });
}
