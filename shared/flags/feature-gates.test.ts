import { GATES } from './feature-gate-table';
import { describeGates, parseFeatureGates } from './feature-gates';

const OWN = ['EphemeralContainers', 'ServerSideApply'] as const;

function read(...items: readonly string[]) {
  const parsed = parseFeatureGates(items, OWN);
  if (!parsed.ok) throw new Error(parsed.errors.join('; '));
  return parsed;
}

test('a name stands once in the table', () => {
  const help = describeGates(OWN);
  const named = [...help.matchAll(/(\w+)=/gu)].map(([, name]) => name).filter((name) => name !== 'default');
  expect(new Set(named)).toEqual(new Set(['AllAlpha', 'AllBeta', ...GATES.keys()]));
  expect(new Set(named).size).toBe(named.length);
});

test("gates of Kubernetes' other programs are taken, and are said to switch nothing", () => {
  const parsed = read('CSIMigrationAWS=true', 'CPUManager=true', 'EphemeralContainers=true');
  expect(parsed.gates).toEqual({ EphemeralContainers: true, ServerSideApply: true });
  expect(parsed.warnings).toEqual(['the feature gate CSIMigrationAWS switches nothing in this program']);
});

test('a gate whose feature is there for good, and one that is deprecated, warn', () => {
  expect(read('DryRun=true', 'HyperVContainer=true').warnings).toEqual([
    'the feature gate DryRun is GA: setting it does nothing, and a later release will not know it',
    'the feature gate HyperVContainer is deprecated: a later release will not know it',
  ]);
});

test('a gate that is off for good cannot be switched on', () => {
  expect(parseFeatureGates(['LegacyNodeRoleBehavior=true'], OWN)).toEqual({
    ok: false,
    errors: [
      '--feature-gates: cannot set feature gate LegacyNodeRoleBehavior to true, feature is locked to false',
    ],
  });
});

test("a stage's gate counts for those of its stage that are not named, wherever it stands", () => {
  expect(read('EphemeralContainers=false', 'AllAlpha=true', 'AllBeta=false').gates).toEqual({
    EphemeralContainers: false,
    ServerSideApply: false,
  });
});
