/** A picture, for other people's pages, of how a snitch is doing, or the snitches with a tag. */
export interface WireBadge {
  id: string;
  /** Where the picture is; with `.json` instead of `.svg`, the form that shields.io reads. */
  url: string;
  /** Exactly one of the two says what it is for. */
  token: string | null;
  tag: string | null;
  /** The current name of the snitch; null for a tag. */
  name: string | null;
  /** What outsiders see instead of the name; null to show them the name. */
  public_name: string | null;
  /** Null for the public name of the snitch, or else its name, or the tag. */
  label: string | null;
  created_at: string;
}
