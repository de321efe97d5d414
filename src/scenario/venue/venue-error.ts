/** Something that a venue cannot do because of its surroundings; the message is a sentence for the user. */
export class VenueError extends Error {
  override readonly name = "VenueError";
}

/** A scenario that a venue cannot run at all; the message is the reason. */
export class NotRunnableError extends Error {
  override readonly name = "NotRunnableError";
}
