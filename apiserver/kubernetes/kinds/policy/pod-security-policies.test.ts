import type { PodSecurityPolicy, PodSecurityPolicySpec } from '../../../../shared/api/types/policy-v1beta1';
import { podSecurityPolicyRules } from './pod-security-policies';

const ANYBODY = { rule: 'RunAsAny' };

function problemsOf(spec: Partial<PodSecurityPolicySpec>): readonly string[] {
  const policy: PodSecurityPolicy = {
    metadata: { name: 'restricted' },
    spec: { seLinux: ANYBODY, runAsUser: ANYBODY, fsGroup: ANYBODY, supplementalGroups: ANYBODY, ...spec },
  };
  const errors = podSecurityPolicyRules.validate?.(policy, undefined as never) ?? [];
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

test('lists are shown as Kubernetes shows them', () => {
  expect(
    problemsOf({
      runAsGroup: { rule: 'RunAsAny', ranges: [{ min: 1, max: 5 }] },
      allowedCapabilities: ['*'],
      requiredDropCapabilities: ['KILL', 'CHOWN'],
    }),
  ).toEqual([
    'spec.runAsGroup.ranges: Invalid value: []policy.IDRange{policy.IDRange{Min:1, Max:5}}: Ranges must be empty',
    'requiredDropCapabilities: Invalid value: []core.Capability{"KILL", "CHOWN"}: must be empty when all capabilities are allowed by a wildcard',
  ]);
  expect(problemsOf({ runAsGroup: { rule: 'MustRunAs' } })).toEqual([
    'spec.runAsGroup.ranges: Invalid value: []policy.IDRange(nil): must provide at least one range',
  ]);
});

test('each overlapping pair of sysctls is reported once', () => {
  expect(
    problemsOf({
      allowedUnsafeSysctls: ['a.b', 'a.*', 'c', 'ab*'],
      forbiddenSysctls: ['a.*', 'c', 'a.b', 'a.b.c', 'abc', 'c*', 'd'],
    }),
  ).toEqual([
    'spec.allowedUnsafeSysctls[0]: Invalid value: "a.b": sysctl overlaps with a.*',
    'spec.allowedUnsafeSysctls[0]: Invalid value: "a.b": sysctl overlaps with a.b',
    'spec.allowedUnsafeSysctls[1]: Invalid value: "a.*": sysctl overlaps with a.*',
    'spec.forbiddenSysctls[2]: Invalid value: "a.b": sysctl overlaps with a.*',
    'spec.forbiddenSysctls[3]: Invalid value: "a.b.c": sysctl overlaps with a.*',
    'spec.allowedUnsafeSysctls[2]: Invalid value: "c": sysctl overlaps with c',
    'spec.allowedUnsafeSysctls[2]: Invalid value: "c": sysctl overlaps with c*',
    'spec.forbiddenSysctls[4]: Invalid value: "abc": sysctl overlaps with ab*',
  ]);
});

test('a hundred thousand sysctls in each list are compared', () => {
  const many = (prefix: string): readonly string[] =>
    Array.from({ length: 100_000 }, (_none, at) => `${prefix}.${String(at)}`);
  expect(problemsOf({ allowedUnsafeSysctls: many('a'), forbiddenSysctls: many('b') })).toEqual([]);
});
