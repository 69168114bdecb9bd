import type { Installation, TestUser } from '../../../testing/index.ts'

/** An installation and its administrator. */
export class AdminScene {
  readonly oriel: Installation
  readonly admin: TestUser

  protected constructor(oriel: Installation) {
    this.oriel = oriel
    this.admin = oriel.as({ name: 'admin', groups: ['system:masters'] })
  }
}
