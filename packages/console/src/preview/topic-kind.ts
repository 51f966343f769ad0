/** How a topic is looked at. `numbers` is any topic of which no other kind is known: it may turn out to have no numbers. */
export type TopicKind = "image" | "track" | "log" | "states" | "numbers" | "tree";

const kinds: Readonly<Record<string, TopicKind>> = {
  CompressedImage: "image",
  CompressedVideo: "image",
  Image: "image",
  RawImage: "image",
  NavSatFix: "track",
  LocationFix: "track",
  Log: "log",
  DiagnosticArray: "states",
  Bool: "states",
  String: "states",
  // Their numbers are geometry and tables, of which no single one says much.
  CameraCalibration: "tree",
  CameraInfo: "tree",
  FrameTransform: "tree",
  FrameTransforms: "tree",
  LaserScan: "tree",
  MarkerArray: "tree",
  OccupancyGrid: "tree",
  Path: "tree",
  PointCloud: "tree",
  PointCloud2: "tree",
  SceneUpdate: "tree",
  TFMessage: "tree",
  tfMessage: "tree",
};
const packages =
  /^(sensor_msgs|foxglove|foxglove_msgs|rosgraph_msgs|rcl_interfaces|nav_msgs|tf|tf2_msgs|visualization_msgs|diagnostic_msgs|std_msgs)\//;

export function kindOf(schemaName: string): TopicKind {
  const name = plainName(schemaName);
  const type = typeOf(name);
  return packages.test(name) && Object.hasOwn(kinds, type) ? kinds[type]! : "numbers";
}

/** Returns `Imu` for `sensor_msgs/msg/Imu`. */
export function typeOf(schemaName: string): string {
  return /[^/.]*$/.exec(schemaName)![0];
}

/** ROS 2 writes package/msg/Type, ROS 1 package/Type, protobuf package.Type. */
function plainName(schemaName: string): string {
  return schemaName.replace("/msg/", "/").replace(".", "/");
}
