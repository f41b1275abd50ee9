import { readFileSync } from 'node:fs';
import path from 'node:path';
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicySpec,
  ValidatingAdmissionPolicyStatus,
} from '../../shared/api/types/admissionregistration-v1';
import type * as NamesModule from '../../shared/names';
import { loadAtLevel } from '../../shared/testing/load-at-level';
import type * as RoleBenchModule from '../testing/role-bench';
import type { RoleBench } from '../testing/role-bench';
import type * as PolicyStatusModule from './policy-status';

const { createRoleBench, runPolicyStatus, GROUP } = loadAtLevel('1.36', () => ({
  ...jest.requireActual<typeof NamesModule>('../../shared/names'),
  ...jest.requireActual<typeof RoleBenchModule>('../testing/role-bench'),
  ...jest.requireActual<typeof PolicyStatusModule>('./policy-status'),
}));

const POLICIES = `/apis/${GROUP.admissionregistration}/v1/validatingadmissionpolicies`;

interface Checked {
  readonly spec: ValidatingAdmissionPolicySpec;
  readonly status: ValidatingAdmissionPolicyStatus;
}

/** Policies with the status that the controller manager of Kubernetes 1.36.2 gives them, and the definition of a kind that they name. */
const { definition, policies } = JSON.parse(
  [
    ['rbac.authorization.k8s.io', GROUP.rbac],
    ['networking.k8s.io', GROUP.networking],
    ['events.k8s.io', GROUP.events],
    ['apiextensions.k8s.io', GROUP.apiextensions],
    ['apiregistration.k8s.io', GROUP.apiregistration],
  ].reduce(
    (text, [theirs = '', ours = '']) => text.replaceAll(theirs, ours),
    readFileSync(path.join(__dirname, 'testing', 'type-checks.json'), 'utf8'),
  ),
) as {
  readonly definition: object;
  readonly policies: Readonly<Record<string, Checked>>;
};

let bench: RoleBench;
beforeAll(async () => {
  bench = await createRoleBench();
  await bench.call('POST', `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`, definition);
  bench.run(runPolicyStatus, 'validatingadmissionpolicy-status-controller');
});
afterAll(async () => bench.close());

async function create(name: string, spec: ValidatingAdmissionPolicySpec): Promise<void> {
  await bench.call('POST', POLICIES, { metadata: { name }, spec });
}

async function checked(name: string, generation = 1): Promise<ValidatingAdmissionPolicyStatus | undefined> {
  const policy = await bench.when<ValidatingAdmissionPolicy>(
    POLICIES,
    name,
    (object) => object?.status?.observedGeneration === generation,
  );
  return policy?.status;
}

test.each(Object.entries(policies))(
  'the types of a policy are checked as upstream does: %s',
  async (_, given) => {
    const name = `p${String(Object.values(policies).indexOf(given))}`;
    await create(name, given.spec);
    // Names of types end with a number; upstream's is random.
    const text = JSON.stringify(await checked(name)).replaceAll(/\b([A-Z][A-Za-z]+)\d\b/gu, '$1');
    expect(JSON.parse(text)).toEqual(given.status);
  },
);

test('a changed policy is checked again, and its status belongs to the controller', async () => {
  const [{ spec }] = Object.values(policies) as [Checked];
  await create('changed', { ...spec, validations: [{ expression: 'object.spec.replicas > 1' }] });
  expect(await checked('changed')).toEqual({ observedGeneration: 1, typeChecking: {} });
  await bench.call('PATCH', `${POLICIES}/changed`, {
    spec: { validations: [{ expression: 'object.spec.foo == 1' }] },
  });
  const status = await checked('changed', 2);
  expect(status?.typeChecking?.expressionWarnings).toMatchObject([
    { fieldRef: 'spec.validations[0].expression' },
  ]);
  const { metadata } = await bench.call('GET', `${POLICIES}/changed`);
  expect(metadata['managedFields']).toContainEqual(
    expect.objectContaining({
      manager: 'validatingadmissionpolicy-status',
      operation: 'Apply',
    }),
  );
});
