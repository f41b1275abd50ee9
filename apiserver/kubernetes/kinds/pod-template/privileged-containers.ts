import type { Container, PodSpec } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField } from '../../../../shared/errors/field-error';
import type { KindSettings } from '../../../engine/registry/strategy';
import { forEachItem } from '../rules/primitives';

const LISTS = ['containers', 'initContainers', 'ephemeralContainers'] as const;

/** `Forbidden` for each privileged container of a pod's spec, and once for processes of the host, where the operator does not allow any. `path` is that of the spec. */
export function privilegeRule(
  spec: PodSpec,
  {
    path,
    settings,
    lists = LISTS,
  }: {
    readonly path: string;
    readonly settings: KindSettings;
    readonly lists?: readonly (typeof LISTS)[number][];
  },
): readonly FieldError[] {
  if (settings.allowPrivileged) return [];
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  const hasHostProcess = lists.some((list) =>
    (spec[list] ?? []).some(
      ({ securityContext }) => securityContext?.windowsOptions?.hostProcess ?? ofPod ?? false,
    ),
  );
  const processes = hasHostProcess
    ? [forbiddenField(path, 'hostProcess containers are disallowed by cluster policy')]
    : [];
  const privileged = lists.flatMap((list) =>
    forEachItem<Container>(spec[list] ?? [], `${path}.${list}`, ({ securityContext }, at) =>
      securityContext?.privileged === true
        ? [forbiddenField(`${at}.securityContext.privileged`, 'disallowed by cluster policy')]
        : [],
    ),
  );
  return [...privileged, ...processes];
}
