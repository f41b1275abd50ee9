import type { IDRange, RunAsUserStrategyOptions } from '../../../../../shared/api/types/policy-v1beta1';
import { invalid, required } from '../../../../../shared/errors/field-error';
import { ownKeyMap } from '../../../../../shared/own-key-map';
import type { ContainerStrategy } from '../strategy';
import { ANYTHING, NOTHING } from '../strategy';
import { isInRanges, textOfRanges } from './id-ranges';

/** The user of a container's process; undefined for incomplete options. */
export function userStrategy({ rule, ranges = [] }: RunAsUserStrategyOptions): ContainerStrategy | undefined {
  return RULES.get(rule)?.(ranges);
}

const NON_ROOT: ContainerStrategy = {
  // The kubelet, which knows the image, decides finally.
  fill: ({ runAsNonRoot, runAsUser }) =>
    runAsNonRoot === undefined && runAsUser === undefined ? { runAsNonRoot: true } : NOTHING,
  problems({ effective: { runAsNonRoot, runAsUser }, path }) {
    const nonRootPath = `${path}.securityContext.runAsNonRoot`;
    if (runAsNonRoot === undefined && runAsUser === undefined) return [required(nonRootPath, 'must be true')];
    if (runAsNonRoot === false) return [invalid(nonRootPath, false, 'must be true')];
    return runAsUser !== undefined && BigInt(runAsUser) === 0n
      ? [invalid(`${path}.securityContext.runAsUser`, 0, 'running with the root UID is forbidden')]
      : [];
  },
};

const RULES = ownKeyMap<(ranges: readonly IDRange[]) => ContainerStrategy | undefined>({
  MustRunAs: mustRunAs,
  MustRunAsNonRoot: () => NON_ROOT,
  RunAsAny: () => ANYTHING,
});

function mustRunAs(ranges: readonly IDRange[]): ContainerStrategy | undefined {
  const [first] = ranges;
  if (first === undefined) return undefined;
  return {
    fill: ({ runAsUser }) => (runAsUser === undefined ? { runAsUser: first.min } : NOTHING),
    problems({ effective: { runAsUser }, path }) {
      const at = `${path}.securityContext.runAsUser`;
      if (runAsUser === undefined) return [required(at)];
      if (isInRanges(runAsUser, ranges)) return [];
      return [invalid(at, runAsUser, `must be in the ranges: ${textOfRanges(ranges)}`)];
    },
  };
}
