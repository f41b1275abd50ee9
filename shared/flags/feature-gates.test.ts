import { GATES } from './feature-gate-table';
import { describeGates, parseFeatureGates } from './feature-gates';

const OWN = ['EphemeralContainers', 'ServerSideApply'] as const;

const read = (...items: readonly string[]) => readWith(OWN, ...items);

function readWith<const Name extends string>(own: readonly Name[], ...items: readonly string[]) {
  const parsed = parseFeatureGates(items, own);
  if (!parsed.ok) throw new Error(parsed.errors.join('; '));
  return parsed;
}

test('a name is in the table once', () => {
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

test('a locked GA gate and a deprecated gate warn', () => {
  expect(read('NodeLease=true', 'HyperVContainer=true').warnings).toEqual([
    'the feature gate NodeLease is GA: setting it does nothing, and a later release will not know it',
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

test('a gate that is on for good can be switched off for one release more, if that is so upstream', () => {
  const { gates, warnings } = readWith(['DryRun'], 'DryRun=false', 'ExecProbeTimeout=false');
  expect(gates).toEqual({ DryRun: false });
  expect(warnings).toEqual([
    'the feature gate DryRun is GA: a later release will not know it',
    'the feature gate ExecProbeTimeout is GA: setting it does nothing, and a later release will not know it',
  ]);
  expect(describeGates(['DryRun'])).toContain('DryRun=true|false (GA - default=true)');
});

test('of the gates that are GA five are not locked', () => {
  const open = [...GATES].filter(([, { stage, isLocked }]) => stage === 'GA' && !isLocked);
  expect(open.map(([name]) => name)).toEqual([
    'AdvancedAuditing',
    'DryRun',
    'ExecProbeTimeout',
    'StorageObjectInUseProtection',
    'VolumeSubpath',
  ]);
});

test('a gate of another API level is accepted with a warning, and switches nothing', () => {
  const parsed = parseFeatureGates(['SidecarContainers=true'], ['IndexedJob', 'SidecarContainers']);
  expect(parsed).toEqual({
    ok: true,
    gates: { IndexedJob: false, SidecarContainers: false },
    warnings: ['the feature gate SidecarContainers belongs to another API level: setting it does nothing'],
  });
});
