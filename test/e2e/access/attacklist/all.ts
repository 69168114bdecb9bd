import type { Attack, Scene } from './attack.ts'
import { certificates, credentials } from './credentials.ts'
import { forgedHeaders } from './headers.ts'
import { impersonations } from './impersonations.ts'
import { paths, wildcards } from './paths.ts'

/** All attacks, by default on the secrets of the other workspace. */
export const attacksIn = (scene: Scene): readonly Attack[] => [
  ...forgedHeaders(scene),
  ...credentials(scene),
  ...paths(scene),
  ...wildcards(scene),
  ...impersonations(scene),
  ...certificates(scene),
]
