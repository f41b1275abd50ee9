import type { PodResourceClaim, PodSpec, ResourceClaim } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, notFoundField, required } from '../../../../shared/errors/field-error';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { forEachItem, invalidForEach } from '../rules/primitives';

/** Claims of devices, which a pod names and its containers use. Source: validatePodResourceClaims, v1.36. */

/** `resourceClaims` of a pod. */
export function validatePodResourceClaims(
  claims: readonly PodResourceClaim[] | undefined,
  path: string,
): readonly FieldError[] {
  const names = new Set<string>();
  return forEachItem(claims ?? [], path, (claim, at) => {
    const { name, resourceClaimName: own, resourceClaimTemplateName: template } = claim;
    const isTaken = names.has(name);
    names.add(name);
    return [
      ...(name === '' ? [required(`${at}.name`)] : []),
      ...(isTaken && name !== '' ? [duplicate(`${at}.name`, name)] : []),
      ...(isTaken || name === '' ? [] : invalidForEach(dns1123LabelProblems(name), name, `${at}.name`)),
      ...(own !== undefined && template !== undefined
        ? [
            invalid(
              at,
              claim,
              'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
            ),
          ]
        : []),
      ...(own === undefined && template === undefined
        ? [invalid(at, claim, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`')]
        : []),
      ...optionalName(own, `${at}.resourceClaimName`),
      ...optionalName(template, `${at}.resourceClaimTemplateName`),
    ];
  });
}

function optionalName(name: string | undefined, path: string): readonly FieldError[] {
  return name === undefined ? [] : invalidForEach(dns1123SubdomainProblems(name), name, path);
}

/** `resources.claims` of a container: the pod has them, and each is named once, as a whole or by its requests. */
export function validateClaimNames(
  claims: readonly ResourceClaim[] | undefined,
  path: string,
  { resourceClaims = [] }: PodSpec,
): readonly FieldError[] {
  if (claims === undefined || claims.length === 0) return [];
  const ofPod = new Set(resourceClaims.map(({ name }) => name));
  const wholes = new Set<string>();
  const parts = new Map<string, Set<string>>();
  return forEachItem(claims, path, ({ name, request = '' }, at) => {
    if (name === '') return [required(at)];
    const known = ofPod.has(name) ? [] : [notFoundField(at, name)];
    if (wholes.has(name)) return [duplicate(at, name), ...known];
    const requests = parts.get(name) ?? new Set();
    const isTaken = request === '' ? requests.size > 0 : requests.has(request);
    if (request === '') wholes.add(name);
    else parts.set(name, requests.add(request));
    return [
      ...(request === '' ? [] : invalidForEach(dns1123LabelProblems(request), request, `${at}.request`)),
      ...(isTaken ? [duplicate(at, request === '' ? name : `${name}/${request}`)] : []),
      ...known,
    ];
  });
}
