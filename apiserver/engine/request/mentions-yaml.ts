/** Returns whether an Accept or Content-Type header contains YAML, in any case. */
export function mentionsYaml(mediaTypes: string | undefined): boolean {
  return mediaTypes !== undefined && YAML.test(mediaTypes);
}

const YAML = /yaml/iu;
