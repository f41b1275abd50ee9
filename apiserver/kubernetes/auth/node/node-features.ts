/** The feature gates of v1.21 that change what nodes may do. */
export interface NodeFeatures {
  /** Gate ExpandPersistentVolumes: nodes report the resized capacity of claims. */
  readonly volumesGrow: boolean;
  /** Gate GenericEphemeralVolume: pods own claims. */
  readonly ephemeralVolumes: boolean;
  /** Gate DynamicKubeletConfig: ConfigMaps configure kubelets. */
  readonly nodeConfiguration: boolean;
}
