/** Whether an Accept or Content-Type header names YAML, whatever else it names. Media types know no case. */
export function mentionsYaml(mediaTypes: string | undefined): boolean {
  return mediaTypes !== undefined && YAML.test(mediaTypes);
}

const YAML = /yaml/iu;
