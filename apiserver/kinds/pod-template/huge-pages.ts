import type { PodSpec } from '../../../shared/api/types/core-v1';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid } from '../../../shared/errors/field-error';
import { objectAt } from '../../../shared/object/json';
import type { ReadonlyJson } from '../../../shared/object/json';
import type { Strategy, SubresourceStrategy } from '../../registry/strategy';
import { isOn } from '../field-gates';
import { isHugePageReference, isRefusedHugePageReference } from './downward-api';
import { POD_PLACES } from './pod-places';
import { isHugePages } from './resource-requirements';

/**
 * The strategy that follows the gates of huge pages: pods and templates show their amounts to containers only with DownwardAPIHugePages,
 * and pods have several sizes only with HugePageStorageMediumSize. Who did so while the gate was on goes on doing so.
 */
export function withHugePages(resource: string, strategy: Strategy | undefined): Strategy | undefined {
  const place = POD_PLACES.get(resource);
  if (place === undefined) return strategy;
  const { validate, validateNew, validateUpdate, judgesChangesFirst = false, subresources } = strategy ?? {};
  const isPod = place.length === 0;
  return {
    ...strategy,
    // What an object was decides what it may be, which the rules of every write do not see.
    validate: () => [],
    validateNew: (object, info) => {
      const errors = [...(validate?.(object, info) ?? []), ...(validateNew?.(object, info) ?? [])];
      const kept = isOn(info.settings, 'DownwardAPIHugePages') ? forgiven(errors) : errors;
      if (!isPod || isOn(info.settings, 'HugePageStorageMediumSize')) return kept;
      return [...kept, ...severalSizes(specAt(object, place))];
    },
    validateUpdate: (next, previous, info) => {
      const always = validate?.(next, info) ?? [];
      const changes = validateUpdate?.(next, previous, info) ?? [];
      const errors = judgesChangesFirst ? [...changes, ...always] : [...always, ...changes];
      const before = specAt(previous, place);
      const mayShow = isOn(info.settings, 'DownwardAPIHugePages') || showsHugePages(before);
      const kept = mayShow ? forgiven(errors) : errors;
      if (!isPod || isOn(info.settings, 'HugePageStorageMediumSize')) return kept;
      return severalSizes(before).length > 0 ? kept : [...kept, ...severalSizes(specAt(next, place))];
    },
    ...(subresources === undefined
      ? {}
      : {
          subresources: Object.fromEntries(
            Object.entries(subresources).map(([name, each]) => [name, showingHugePages(each, place)]),
          ),
        }),
  };
}

function showingHugePages(strategy: SubresourceStrategy, place: readonly string[]): SubresourceStrategy {
  const { validateUpdate } = strategy;
  if (validateUpdate === undefined) return strategy;
  return {
    ...strategy,
    validateUpdate: (next, previous, info) => {
      const errors = validateUpdate(next, previous, info);
      const mayShow = isOn(info.settings, 'DownwardAPIHugePages') || showsHugePages(specAt(previous, place));
      return mayShow ? forgiven(errors) : errors;
    },
  };
}

function forgiven(errors: readonly FieldError[]): readonly FieldError[] {
  return errors.length === 0 ? errors : errors.filter((error) => !isRefusedHugePageReference(error));
}

function specAt(object: ReadonlyJson, place: readonly string[]): Partial<PodSpec> {
  return [...place, 'spec'].reduce<ReadonlyJson>((at, name) => objectAt(at, name) ?? {}, object);
}

/** Files of a projected volume do not count, as upstream. */
function showsHugePages(spec: Partial<PodSpec>): boolean {
  const { containers, initContainers, ephemeralContainers, volumes } = spec;
  return (
    (volumes ?? []).some(({ downwardAPI }) =>
      (downwardAPI?.items ?? []).some(({ resourceFieldRef }) => isHugePageReference(resourceFieldRef)),
    ) ||
    [...(containers ?? []), ...(initContainers ?? []), ...(ephemeralContainers ?? [])].some(({ env }) =>
      (env ?? []).some(({ valueFrom }) => isHugePageReference(valueFrom?.resourceFieldRef)),
    )
  );
}

function severalSizes({ containers, initContainers }: Partial<PodSpec>): FieldError[] {
  const sizes = [...(initContainers ?? []), ...(containers ?? [])].flatMap(
    ({ resources: { limits = {}, requests = {} } }) =>
      [...Object.keys(limits), ...Object.keys(requests)].filter(isHugePages),
  );
  const distinct = [...new Set(sizes)].toSorted();
  return distinct.length > 1
    ? [invalid('spec', distinct, 'must use a single hugepage size in a pod spec')]
    : [];
}
