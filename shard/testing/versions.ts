import type { ShardAdmissionRequest } from '../../framework/contract/admission.ts'

/** Of a write into a kind that has one version. */
export const inOneVersion: Pick<ShardAdmissionRequest, 'version' | 'versions'> = {
  version: 'v1',
  versions: { served: ['v1'], convert: async object => object },
}
