"""Small files that are laid out as the products of sensors are, for the tests of their readers."""

from __future__ import annotations

from xml.etree import ElementTree

import h5py
import numpy as np
import rasterio
from rasterio.transform import Affine

ROWS, COLUMNS = 9, 6
GRID = Affine(30, 0, 4e5, 0, -30, 5.8e6)
SWATH = "HDFEOS/SWATHS/PRS_L2D_HCO"


def _cube(bands, seed):
    return np.random.default_rng(seed).random((ROWS, COLUMNS, bands)).astype(np.float32)


def write_emit(path, *, chunks=True):
    """Write the layout of EMITL2ARFL.001."""
    rng = np.random.default_rng(0)
    cube = rng.random((ROWS, COLUMNS, 5)).astype(np.float32)
    cube[2, 3] = -9999
    with h5py.File(path, "w") as file:
        stored = file.create_dataset(
            "reflectance", data=cube, chunks=(4, 3, 2) if chunks else None, fillvalue=-9999
        )
        stored.attrs["_FillValue"] = np.float32([-9999])
        bands = file.create_group("sensor_band_parameters")
        bands["wavelengths"] = np.float32([381.0, 388.4, 1380.0, 2000.0, 2492.9])
        bands["fwhm"] = np.float32([8.4, 8.4, 8.5, 8.8, 8.7])
        bands["good_wavelengths"] = np.float32([1, 1, 0, 1, 1])
        place = file.create_group("location")
        place["lat"] = np.full((ROWS, COLUMNS), 45.0)
        place["lon"] = np.full((ROWS, COLUMNS), 10.0)
        # the map grid is the sensor's, upside down, with an empty first column
        columns, rows = np.meshgrid(np.arange(COLUMNS + 1), np.arange(ROWS, 0, -1))
        place["glt_x"] = columns.astype(np.int32)
        place["glt_y"] = np.where(columns > 0, rows, 0).astype(np.int32)
        file.attrs["geotransform"] = np.array([10.0, 0.001, 0.0, 45.0, 0.0, -0.001])
        file.attrs["spatial_ref"] = rasterio.CRS.from_epsg(4326).to_wkt()
    return cube


def write_prisma(path, *, corners="centres"):
    """Write the layout of PRISMA's L2D: (row, band, column), descending, with absent bands."""
    rng = np.random.default_rng(1)
    cubes = {"Vnir": rng.integers(1, 65535, (ROWS, 4, COLUMNS), dtype=np.uint16),
             "Swir": rng.integers(1, 65535, (ROWS, 3, COLUMNS), dtype=np.uint16)}  # fmt: skip
    centres = {"Vnir": [977.0, 700.0, 406.0, 0.0], "Swir": [2497.0, 1500.0, 943.0]}
    ranges = {"Vnir": (0.0, 0.8), "Swir": (-0.01, 0.6)}
    half = 0 if corners == "centres" else 15
    with h5py.File(path, "w") as file:
        for name, cube in cubes.items():
            cube[4, :, 5] = 0
            file[f"{SWATH}/Data Fields/{name.upper()}_Cube"] = cube
            file.attrs[f"List_Cw_{name}"] = np.float32(centres[name])
            file.attrs[f"List_Cw_{name}_Flags"] = np.array(centres[name]).astype(bool).astype("u1")
            file.attrs[f"L2Scale{name}Min"], file.attrs[f"L2Scale{name}Max"] = (
                np.float32(value) for value in ranges[name]
            )
        file.attrs["Epsg_Code"] = np.int32(32632)
        file.attrs["Product_ULcorner_easting"] = np.float32(500015 - half)
        file.attrs["Product_ULcorner_northing"] = np.float32(5000085 + half)
        file.attrs["Product_LRcorner_easting"] = np.float32(500015 + 30 * (COLUMNS - 1) + half)
        file.attrs["Product_LRcorner_northing"] = np.float32(5000085 - 30 * (ROWS - 1) - half)
    return cubes


def write_pace(path):
    """Write the layout of PACE_OCI_L2_SFREFL, version 3.1."""
    cube = _cube(5, 1)
    cube[2, 3] = -32767
    cube[..., 3] = -32767  # a band without any value
    with h5py.File(path, "w") as file:
        stored = file.create_dataset("geophysical_data/rhos", data=cube, chunks=(4, 3, 5))
        stored.attrs["_FillValue"] = np.float32([-32767])
        stored.attrs["long_name"] = "Top of Atmosphere to surface reflectance"
        file["geophysical_data/l2_flags"] = np.zeros((ROWS, COLUMNS), np.int32)
        centres = np.float64([346.0, 351.0, 588.0, 761.0, 2258.0])
        file["sensor_band_parameters/wavelength_3d"] = centres
        file["sensor_band_parameters/wavelength"] = np.linspace(315, 2258, 286)
        for name in ("latitude", "longitude"):
            file[f"navigation_data/{name}"] = np.full((ROWS, COLUMNS), 45, np.float32)
    return cube


def write_neon(path):
    """Write the layout of NEON's DP3.30006."""
    cube = np.random.default_rng(2).integers(0, 9000, (ROWS, COLUMNS, 5)).astype(np.int16)
    cube[0, 0] = -9999
    with h5py.File(path, "w") as file:
        group = file.create_group("SERC/Reflectance")
        group.attrs["Band_Window_1_Nanometers"] = np.int32([1340, 1445])
        group.attrs["Band_Window_2_Nanometers"] = np.int32([1790, 1955])
        stored = group.create_dataset("Reflectance_Data", data=cube, chunks=(4, 3, 5))
        stored.attrs["Scale_Factor"] = 10000.0
        stored.attrs["Data_Ignore_Value"] = -9999.0
        spectral = group.create_group("Metadata/Spectral_Data")
        centres = spectral.create_dataset(
            "Wavelength", data=np.float64([383.9, 650.0, 1400, 1800, 2400])
        )
        centres.attrs["Units"] = "Nanometers"
        spectral["FWHM"] = np.full(5, 5.0)
        place = group.create_group("Metadata/Coordinate_System")
        place["Map_Info"] = np.bytes_(
            "UTM,  1.000,  1.000,  368000.000,  4307000.000,  1.0000000000e+000,"
            "  1.0000000000e+000,  18,  North,  WGS-84,  units=Meters, 0"
        )
        place["EPSG Code"] = np.bytes_("32618")
        place["Proj4"] = np.bytes_("+UTM +zone= 18 +ellps=WGS84 +datum=WGS84 +units=m +no_defs")
        imagery = group.create_group("Metadata/Ancillary_Imagery")
        imagery["Slope"] = np.zeros((ROWS, COLUMNS), np.float32)
    return cube


def write_tanager(path, *, kind="GRIDS", zone=-34, name="surface_reflectance"):
    """Write the layout of Tanager's ortho_sr_hdf5 (GRIDS) or basic_sr_hdf5 (SWATHS)."""
    cube = _cube(4, 3)
    stored = cube.transpose(2, 0, 1).copy()
    stored[:, 8, 5] = -9999
    with h5py.File(path, "w") as file:
        fields = file.create_group(f"HDFEOS/{kind}/HYP/Data Fields")
        data = fields.create_dataset(name, data=stored, chunks=(1, 4, 6))
        data.attrs["wavelengths"] = np.float32([376.4, 700, 1380, 2499])
        data.attrs["fwhm"] = np.float32([5.2, 5.5, 6, 6.8])
        data.attrs["good_wavelengths"] = np.uint8([1, 1, 0, 1])
        data.attrs["_FillValue"] = np.float32(-9999)
        missing = np.zeros((ROWS, COLUMNS), np.uint8)
        missing[0, :2] = 1
        fields["nodata_pixels"] = missing
        fields["beta_cloud_mask"] = np.zeros((ROWS, COLUMNS), np.uint8)
        if kind == "SWATHS":
            for name in ("Latitude", "Longitude"):
                file[f"HDFEOS/SWATHS/HYP/Geolocation Fields/{name}"] = np.full(
                    (ROWS, COLUMNS), 19.5
                )
            return cube
        right, bottom = 345660 + 30 * COLUMNS, 6286110 - 30 * ROWS
        text = (
            'GROUP=GridStructure\n\tGROUP=GRID_1\n\t\tGridName="HYP"\n'
            f"\t\tXDim={COLUMNS}\n\t\tYDim={ROWS}\n"
            "\t\tUpperLeftPointMtrs=(345660.000000,6286110.000000)\n"
            f"\t\tLowerRightMtrs=({right:.6f},{bottom:.6f})\n"
            f"\t\tProjection=HE5_GCTP_UTM\n\t\tZoneCode={zone}\n\t\tSphereCode=12\n"
            "\t\tGridOrigin=HE5_HDFE_GD_UL\n\tEND_GROUP=GRID_1\nEND_GROUP=GridStructure\nEND\n"
        )
        file["HDFEOS INFORMATION/StructMetadata.0"] = np.bytes_(text)
    return cube


def write_aviris3(path, *, transform=True):
    """Write the layout of AV3_L2A_RFL (RFL_ORT.nc)."""
    cube = _cube(3, 4)
    cube[4, 4] = -9999
    with h5py.File(path, "w") as file:
        group = file.create_group("reflectance")
        stored = group.create_dataset(
            "reflectance", data=cube.transpose(2, 0, 1), chunks=(2, 4, 6), fillvalue=-9999
        )
        stored.attrs["_FillValue"] = np.float32([-9999])
        group["wavelength"] = np.float32([390.6, 1000.2, 2495.0])
        group["fwhm"] = np.float32([8, 8, 8])
        grid = file.create_dataset("transverse_mercator", data=np.int8(0))
        grid.attrs["crs_wkt"] = rasterio.CRS.from_epsg(32611).to_wkt()
        if transform:
            grid.attrs["GeoTransform"] = "400000.0 30.0 0.0 5800000.0 0.0 -30.0"
        file["easting"] = 4e5 + 30 * (np.arange(COLUMNS) + 0.5)
        file["northing"] = 5.8e6 - 30 * (np.arange(ROWS) + 0.5)
    return cube


def write_enmap(folder, *, gains=(1e-4, 1e-4, 1e-4), name="ENMAP01-____L2A-DT0-SPECTRAL_IMAGE"):
    """Write the files of EnMAP L2A: GeoTIFF and METADATA.XML."""
    cube = np.random.default_rng(2).integers(0, 6000, (ROWS, COLUMNS, 3)).astype(np.int16)
    cube[0, 0] = -32768
    image = folder / f"{name}.TIF"
    with rasterio.open(
        image, "w", driver="GTiff", height=ROWS, width=COLUMNS, count=3, dtype="int16",
        crs="EPSG:32633", transform=GRID,
    ) as raster:  # fmt: skip
        raster.write(cube.transpose(2, 0, 1))
    root = ElementTree.Element("level_X")
    specific = ElementTree.SubElement(root, "specific")
    ElementTree.SubElement(specific, "backgroundValue").text = "-32768"
    bands = ElementTree.SubElement(specific, "bandCharacterisation")
    for number, (centre, gain) in enumerate(zip((418.4, 902.0, 2445.3), gains, strict=True)):
        band = ElementTree.SubElement(bands, "bandID", number=str(number + 1))
        for tag, value in {"wavelengthCenterOfBand": centre, "FWHMOfBand": 6.0,
                           "GainOfBand": gain, "OffsetOfBand": 0}.items():  # fmt: skip
            ElementTree.SubElement(band, tag).text = str(value)
    metadata = folder / f"{name.split('SPECTRAL')[0]}METADATA.XML"
    ElementTree.ElementTree(root).write(metadata)
    return cube, image, metadata


def write_desis(folder, *, gains="0.0001"):
    """Write the files of DESIS-HSI-L2A: GeoTIFF, ENVI header and METADATA.xml."""
    stem = "DESIS-HSI-L2A-DT1203190212_025-20191203T021128-V0210-"
    cube = np.random.default_rng(5).integers(0, 6000, (ROWS, COLUMNS, 3)).astype(np.int16)
    cube[0, 0] = -32768
    image = folder / f"{stem}SPECTRAL_IMAGE.tif"
    with rasterio.open(
        image, "w", driver="GTiff", height=ROWS, width=COLUMNS, count=3, dtype="int16",
        crs="EPSG:32650", transform=GRID, interleave="pixel", nodata=-32768,
    ) as raster:  # fmt: skip
        raster.write(cube.transpose(2, 0, 1))
    (folder / f"{stem}SPECTRAL_IMAGE.hdr").write_text(
        f"ENVI\nsamples = {COLUMNS}\nlines = {ROWS}\nbands = 3\nheader offset = 0\n"
        "file type = ENVI Standard\ndata type = 2\ninterleave = bip\nbyte order = 0\n"
        "wavelength units = nanometers\nwavelength = {401.9,  650.25,  999.5}\n"
        f"fwhm = {{3.5, 3.5, 3.6}}\ndata gain values = {{{gains},  {gains}, {gains}}}\n"
        "data offset values = {0, 0, 0}\n"
    )
    metadata = folder / f"{stem}METADATA.xml"
    metadata.write_text("<?xml version='1.0'?><hsi_doc><metadata/></hsi_doc>")
    return cube, image, metadata


def write_sentinel2(folder, *, baseline="05.10", offset=-1000, tiff=False):
    """Write the layout of a Sentinel-2 L2A product: metadata and the bands of 20 and 10 m."""
    safe = folder / "S2A_MSIL2A_20240625T185941_N0510_R013_T10SGH_20240626T012349.SAFE"
    numbers = {"B02": 1, "B04": 3, "B8A": 8, "B12": 12}
    cube = np.random.default_rng(6).integers(1000, 6000, (64, 64, 4)).astype(np.uint16)
    cube[0, 0] = 0
    for resolution, names in (("R20m", list(numbers)), ("R10m", ["B02", "B04"])):
        images = safe / "GRANULE" / "L2A_T10SGH_A047000_20240625T190000" / "IMG_DATA" / resolution
        images.mkdir(parents=True)
        metres = int(resolution[1:3])
        driver = {"driver": "GTiff"} if tiff else {
            "driver": "JP2OpenJPEG", "QUALITY": "100", "REVERSIBLE": "YES"
        }  # fmt: skip
        for name in names:
            file = images / f"T10SGH_20240625T185941_{name}_{metres}m.{'tif' if tiff else 'jp2'}"
            with rasterio.open(
                file, "w", height=64, width=64, count=1, dtype="uint16", crs="EPSG:32610",
                transform=Affine(metres, 0, 6e5, 0, -metres, 4.2e6), **driver,
            ) as raster:  # fmt: skip
                raster.write(cube[..., list(numbers).index(name)], 1)
        (images / f"T10SGH_20240625T185941_SCL_{metres}m.jp2").write_bytes(b"")
    root = ElementTree.Element("{urn:psd}Level-2A_User_Product")
    general = ElementTree.SubElement(root, "{urn:psd}General_Info")
    info = ElementTree.SubElement(general, "Product_Info")
    ElementTree.SubElement(info, "PROCESSING_BASELINE").text = baseline
    image = ElementTree.SubElement(general, "Product_Image_Characteristics")
    for text, index in (("NODATA", 0), ("SATURATED", 65535)):
        special = ElementTree.SubElement(image, "Special_Values")
        ElementTree.SubElement(special, "SPECIAL_VALUE_TEXT").text = text
        ElementTree.SubElement(special, "SPECIAL_VALUE_INDEX").text = str(index)
    values = ElementTree.SubElement(image, "QUANTIFICATION_VALUES_LIST")
    ElementTree.SubElement(values, "BOA_QUANTIFICATION_VALUE", unit="none").text = "10000"
    if offset:
        listed = ElementTree.SubElement(image, "BOA_ADD_OFFSET_VALUES_LIST")
        for number in range(13):
            ElementTree.SubElement(listed, "BOA_ADD_OFFSET", band_id=str(number)).text = str(offset)
    spectra = ElementTree.SubElement(image, "Spectral_Information_List")
    for number, band, centre in ((1, "B2", 492.1), (8, "B8A", 864.0)):
        one = ElementTree.SubElement(
            spectra, "Spectral_Information", bandId=str(number), physicalBand=band
        )
        wavelength = ElementTree.SubElement(one, "Wavelength")
        ElementTree.SubElement(wavelength, "CENTRAL", unit="nm").text = str(centre)
    ElementTree.ElementTree(root).write(safe / "MTD_MSIL2A.xml")
    return cube, safe


def write_wyvern(path, *, tags=True):
    """Write the layout of Wyvern's Dragonette GeoTIFFs: float32 with tags of each band."""
    cube = _cube(3, 7)
    cube[3, 3] = -9999
    with rasterio.open(
        path, "w", driver="GTiff", height=ROWS, width=COLUMNS, count=3, dtype="float32",
        crs="EPSG:4326", transform=Affine(6e-5, 0, -122.4, 0, -4.5e-5, 37.8), nodata=-9999,
        compress="lzw",
    ) as raster:  # fmt: skip
        raster.write(cube.transpose(2, 0, 1))
        for band, centre in enumerate((503.0, 600.0, 799.0), start=1):
            raster.set_band_description(band, f"Band_{centre:g}")
            if tags:
                raster.update_tags(
                    band, Wavelength=f"{centre:g}", Wavelength_Units="nanometers", FWHM="17"
                )
    return cube
