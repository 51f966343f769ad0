/** How a topic is looked at, beside its fields and the tree of its messages. */
export type TopicKind = "image" | "track" | "other";

const images = new Set(["sensor_msgs/CompressedImage", "foxglove/CompressedImage", "foxglove_msgs/CompressedImage"]);
const tracks = new Set(["sensor_msgs/NavSatFix", "foxglove/LocationFix", "foxglove_msgs/LocationFix"]);

export function kindOf(schemaName: string): TopicKind {
  // ROS 2 writes package/msg/Type, ROS 1 package/Type, protobuf package.Type.
  const name = schemaName.replace("/msg/", "/").replace(".", "/");
  if (images.has(name)) return "image";
  return tracks.has(name) ? "track" : "other";
}
