/** A picture for a page of somebody else: how a snitch is, or the snitches with a tag. */
export interface WireBadge {
  id: string;
  /** Where the picture is; with `.json` in the place of `.svg` what shields.io asks for. */
  url: string;
  /** Exactly one of the two says what it is for. */
  token: string | null;
  tag: string | null;
  /** Of the snitch, as it is called now; null for a tag. */
  name: string | null;
  /** What others are told in the place of the name; null for the name. */
  public_name: string | null;
  /** Null for the public name of the snitch, or else its name, or the tag. */
  label: string | null;
  created_at: string;
}
